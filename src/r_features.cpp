// Latent features: their fits, and the entries of bnp_features().
#include "r_features.h"

#include <cmath>
#include <numeric>

#include "features/row_draws.h"
#include "features/stick_series.h"
#include "r_family.h"

using namespace bnpvi;
using namespace bnpvi::features;

namespace {

class Features final : public RFamily {
 public:
  explicit Features(const FitCall& call)
      : call_(call), given_(call.model), data_(call.data), options_(learn_options(call.control)) {}

  Learned begin(const Start& start) override {
    const auto rows = rows_of(start.seed);
    const FeatureProblem problem = problem_of(*rows, start.seed);
    auto fit = std::make_unique<FeatureFit>(problem, starting_state(problem, call_.start), options_);
    fit->hold(rows);
    return {std::move(fit), {}};
  }

  std::unique_ptr<Fit> read(const Start& start, Reader& in) override {
    const auto rows = rows_of(start.seed);
    auto fit = std::make_unique<FeatureFit>(problem_of(*rows, start.seed), in, options_);
    fit->hold(rows);
    return fit;
  }

  Rcpp::List result(const Restarted& run) override {
    const auto& fit = static_cast<const FeatureFit&>(*run.best.fit);
    const FeatureState& state = fit.state();
    const Rows& kept = fit.problem().rows;
    using Rcpp::_;
    return made_in_r([&] {
      return Rcpp::List::create(_["state"] = state_to_r(state, kept), _["elbo"] = state.elbo,
                                _["terms"] = Rcpp::NumericVector::create(
                                    _["data"] = state.loadings.value, _["features"] = state.weights.value,
                                    _["entropy"] = entropy_of(state.total)),
                                _["presence"] = presence_to_r(state.presence, kept, state.id),
                                _["id"] = state.id);
    });
  }

 private:
  std::shared_ptr<const Rows> rows_of(std::uint64_t seed) const {
    return std::make_shared<const Rows>(data_.dealt(given_, call_.control, seed));
  }
  FeatureProblem problem_of(const Rows& rows, std::uint64_t seed) const {
    const Index sparsity = ListFields(call_.control).integer("sparsity");
    return {rows, given_.likelihood, *given_.prior, given_.offset, sparsity,
            seed, call_.pool,        call_.observer};
  }

  const FitCall call_;
  const FeatureModel given_;
  const FeatureData data_;
  const LearnOptions options_;
};

}  // namespace

std::unique_ptr<RFamily> bnpvi::family_of_features(const FitCall& call) {
  return std::make_unique<Features>(call);
}

namespace {

// New rows and their features, given everything else; rows do not influence each other.
struct NewRows {
  RMonitor monitor{R_NilValue};
  RPool pool;
  FeatureModel given;
  FeatureData data;
  Rows rows;
  Loadings loadings;
  Vec logit, bound;
  std::vector<int> id;
  LocalModel local;
  Visited visited;

  NewRows(const Rcpp::List& x, const Rcpp::List& model, const Rcpp::List& state, int threads)
      : pool(threads, monitor),
        given(model),
        data(x),
        rows(data.whole(given)),
        loadings(loadings_from_r(state, rows)),
        logit(Rcpp::as<Vec>(state["logit"])),
        bound(static_cast<std::size_t>(rows.n)),
        id(logit.size()),
        local{rows, loadings, logit, id, given.offset, 0, 0, false} {
    require(static_cast<Index>(logit.size()) + given.offset == loadings.k,
            "state$logit has not a number for each feature");
    std::iota(id.begin(), id.end(), 0);
    visited =
        visit(local, *rows.open(0), no_presence(rows.n), {100, Visiting::Start::fresh}, pool, bound.data());
  }
};

}  // namespace

// ν of new rows, in the form of presence_to_r(), and the contribution of each row's z to the bound, given
// everything else.
// [[Rcpp::export]]
Rcpp::List engine_features_latent(Rcpp::List data, Rcpp::List model, Rcpp::List state, int threads) {
  return entry([&] {
    const NewRows at(data, model, state, threads);
    return made_in_r([&] {
      return Rcpp::List::create(Rcpp::_["presence"] = presence_to_r({at.visited.presence}, at.rows, at.id),
                                Rcpp::_["bound"] = at.bound);
    });
  });
}

// CellMoments of new rows: mean, variance and spread, rows × columns.
// [[Rcpp::export]]
Rcpp::List engine_features_cells(Rcpp::List data, Rcpp::List model, Rcpp::List state, int draws,
                                 int threads) {
  return entry([&] {
    NewRows at(data, model, state, threads);
    const CellMoments cells = draw_cells(at.local, *at.rows.open(0), *at.visited.presence, draws, at.pool);
    return made_in_r([&] {
      const auto matrix = [&](const Buffer& x) {
        return matrix_to_r(Vec(x.begin(), x.end()), at.rows.n, at.rows.d);
      };
      return Rcpp::List::create(Rcpp::_["mean"] = matrix(cells.mean),
                                Rcpp::_["variance"] = matrix(cells.variance),
                                Rcpp::_["spread"] = matrix(cells.spread));
    });
  });
}
