// Entries for tests: special functions, the search for sticks, and draws of a top level.
#include <limits>
#include <stdexcept>

#include "foundation/special.h"
#include "hdp/dirichlet_rows.h"
#include "hdp/tables.h"
#include "mixtures/mixture.h"
#include "r_convert.h"
#include "r_testing_entries.h"

using namespace bnpvi;

namespace {

// All special functions at the pairs (x_i, d_i); NaN where they throw std::domain_error.
Rcpp::List engine_special(Rcpp::NumericVector x, Rcpp::NumericVector d) {
  const auto each = [&](auto f) {
    Rcpp::NumericVector out(x.size());
    for (R_xlen_t i = 0; i < x.size(); ++i) {
      try {
        out[i] = f(x[i], d[i]);
      } catch (const std::domain_error&) {
        out[i] = std::numeric_limits<double>::quiet_NaN();
      }
    }
    return out;
  };
  using Rcpp::_;
  return Rcpp::List::create(
      _["log_gamma_difference"] = each(log_gamma_difference),
      _["digamma_difference"] = each(digamma_difference), _["log_beta"] = each(log_beta),
      _["log_gamma_remainder"] = each([](double a, double) { return log_gamma_remainder(a); }),
      _["stirling_remainder"] = each([](double a, double) { return stirling_remainder(a); }),
      _["trigamma_remainder"] = each([](double a, double) { return trigamma_remainder(a); }));
}

// L_top(u, ω) + Σ_k [απ_k slope_k + others_k log Γ(απ_k)] over K + 1 proportions, as in topic models: at the
// given sticks or, with search, at those that maximise_sticks() finds from there (with empty sticks, from
// its own start).
Rcpp::List engine_sticks(double groups, double gamma, double alpha, Rcpp::NumericVector slope,
                         Rcpp::NumericVector others, Rcpp::NumericVector u, Rcpp::NumericVector omega,
                         bool search) {
  const Index k = slope.size() - 1;
  const TopLevel top = top_level(k, groups, gamma);
  Index visits = 0;
  const auto f = [&](const WeightMoments& moments, WeightMoments* gradient) {
    ++visits;
    const Vec& pi = moments.mean;
    RoundedSum sum;
    for (Index j = 0; j <= k; ++j) {
      sum.add(alpha * pi[j] * slope[j]);
      sum.add(others[j] * log_gamma(alpha * pi[j]));
      if (gradient) gradient->mean[j] += alpha * (slope[j] + others[j] * digamma(alpha * pi[j]));
    }
    return sum;
  };
  HdpSticks q{Vec(u.begin(), u.end()), Vec(omega.begin(), omega.end())};
  if (search) q = maximise_sticks(top, f, q);
  RoundedSum value = top_value(top, q);
  value.add(f(weight_moments(q), nullptr));
  using Rcpp::_;
  return Rcpp::List::create(_["u"] = q.u, _["omega"] = q.omega, _["value"] = value.value(),
                            _["rounding"] = value.rounding(), _["visits"] = static_cast<double>(visits));
}

// DirichletRows::value at the sticks and its derivatives, (K + 1) × 3, for n plain rows or, if sticky > 0,
// for one sticky row of each cluster.
Rcpp::List engine_dirichlet_rows(Rcpp::NumericVector u, Rcpp::NumericVector omega, double n,
                                 double concentration, double sticky, std::string bound) {
  const Index k = u.size();
  DirichletRows rows(bound == "loose" ? RowBound::loose : RowBound::tight);
  if (sticky > 0)
    rows.add_sticky(k, concentration, sticky);
  else
    rows.add_plain(n, concentration);
  const WeightMoments pi = weight_moments({Vec(u.begin(), u.end()), Vec(omega.begin(), omega.end())});
  rows.choose(pi);
  const std::size_t size = pi.mean.size();
  WeightMoments gradient{Vec(size), Vec(size), Vec(size)};
  const double value = rows.value(pi, &gradient).value();
  using Rcpp::_;
  return Rcpp::List::create(_["value"] = value, _["mean"] = pi.mean, _["variance"] = pi.variance,
                            _["log"] = pi.log, _["by_mean"] = gradient.mean,
                            _["by_variance"] = gradient.variance, _["by_log"] = gradient.log);
}

// A mixture's allocation term for the given counts at the globals that are optimal for the counts
// `effective`, and E log π_k and E π_k there. Counts with covariate patterns: K × (1 + C), row-major.
Rcpp::List engine_mixture_weights(Rcpp::List prior, Rcpp::NumericVector counts,
                                  Rcpp::NumericVector effective) {
  const auto alloc = make_alloc_model(ListFields(prior));
  const auto& mixture = alloc_of<mixtures::MixtureAlloc>(*alloc);
  const auto summary = [&](const Rcpp::NumericVector& sizes) {
    SummaryShape shape;
    shape.p = mixture.count_width();
    Summary s(shape, sizes.size() / shape.p);
    s.obs = Vec(sizes.begin(), sizes.end());
    return s;
  };
  const Globals globals = mixture.global_step(summary(effective), {});
  using Rcpp::_;
  return Rcpp::List::create(_["value"] = sum_terms(mixture.elbo_terms(summary(counts), globals)),
                            _["log_weights"] = mixture.log_weights(globals),
                            _["weights"] = mixture.mean_weights(globals), _["u"] = globals.u);
}

// n draws of the variable `which` of a top level (hdp/tables.h), one in each row; each is drawn given the
// previous one if the sampler uses the present value. x: the numbers of the sampler's arguments in their
// order, vectors last.
Rcpp::NumericMatrix engine_top_draws(std::string which, Rcpp::NumericVector x, int n, double seed) {
  Stream stream(static_cast<std::uint64_t>(seed), Purpose::test);
  const auto from = [&](int i) { return std::vector<Index>(x.begin() + i, x.end()); };
  const auto number = [&](int i) { return static_cast<Index>(x[i]); };
  double now = 1;
  const auto one = [&]() -> Vec {
    if (which == "tables") return {static_cast<double>(draw_tables(number(0), x[1], stream))};
    if (which == "weights") return draw_top_weights(Vec(x.begin() + 1, x.end()), x[0], stream);
    if (which == "open") {
      Vec beta(x.begin() + 1, x.end());
      open_cluster(beta, x[0], stream);
      return beta;
    }
    if (which == "top")
      return {now = draw_top_concentration({x[0], x[1]}, now, number(2), number(3), stream)};
    if (which == "group")
      return {now = draw_group_concentration({x[0], x[1]}, now, from(3), number(2), stream)};
    require(which == "row",
            "no such draw: " + which);  // alpha, sticky, self, then a count and a weight of each cluster
    std::vector<Index> count, chosen;
    Vec beta;
    for (int i = 3; i < x.size(); i += 2) {
      count.push_back(number(i));
      beta.push_back(x[i + 1]);
    }
    chosen.resize(count.size());
    const RowTables row = draw_row_tables(count.data(), beta, x[0], x[1], number(2), chosen, stream);
    Vec out{static_cast<double>(row.all), static_cast<double>(row.overrides)};
    out.insert(out.end(), chosen.begin(), chosen.end());
    return out;
  };
  Rcpp::NumericMatrix out;
  for (int i = 0; i < n; ++i) {
    const Vec row = one();
    if (i == 0) out = Rcpp::NumericMatrix(n, static_cast<int>(row.size()));
    for (int j = 0; j < out.ncol(); ++j) out(i, j) = row[j];
  }
  return out;
}

const testing::Entry entries[] = {
    {"engine_special", {"x", "d"}, engine_special},
    {"engine_sticks", {"groups", "gamma", "alpha", "slope", "others", "u", "omega", "search"}, engine_sticks},
    {"engine_dirichlet_rows", {"u", "omega", "n", "concentration", "sticky", "bound"}, engine_dirichlet_rows},
    {"engine_mixture_weights", {"prior", "counts", "effective"}, engine_mixture_weights},
    {"engine_top_draws", {"which", "x", "n", "seed"}, engine_top_draws},
};

}  // namespace
