// Entries for tests: messages of chains, and visits with sparse states.
#include "r_hmm.h"
#include "chains/messages/window_messages.h"
#include "chains/model/chain_memory.h"
#include "r_testing_entries.h"

using namespace bnpvi;
using namespace bnpvi::chains;

namespace {

// Messages for given potentials: log_e is n × K for sequences at the given starts; log_space: on
// space. `fast_is_exact`: what forward() returns, false when the scaled messages may depend on a floor.
Rcpp::List engine_messages(Rcpp::NumericVector log_start, Rcpp::NumericMatrix log_transition,
                           Rcpp::NumericMatrix log_e, Rcpp::IntegerVector starts, bool log_space) {
  const Index k = log_start.size(), n = log_e.nrow();
  Vec transition, e(static_cast<std::size_t>(n * k)), c, alpha(static_cast<std::size_t>((n + 1) * k)),
      scale(static_cast<std::size_t>(n)), beta(static_cast<std::size_t>(k), log_space ? 0.0 : 1.0),
      first_count(beta.size()), pairs(static_cast<std::size_t>(k * k));
  for (Index i = 0; i < k; ++i)
    for (Index j = 0; j < k; ++j) transition.push_back(log_transition(i, j));
  for (Index t = 0; t < n; ++t)
    for (Index j = 0; j < k; ++j) c.push_back(log_e(t, j));
  const Chain chain(k, Vec(log_start.begin(), log_start.end()), transition);
  Rcpp::IntegerVector path(static_cast<int>(n));
  std::vector<std::uint8_t> first(static_cast<std::size_t>(n), 0);
  for (Index g = 0; g + 1 < starts.size(); ++g) {
    first[starts[g]] = 1;
    viterbi(chain, starts[g + 1] - starts[g], c.data() + starts[g] * k, path.begin() + starts[g]);
  }
  const ChainRows rows{n, first.data()};
  double entropy = 0;
  make_potentials(n, k, c.data(), e.data(), log_space);
  const bool exact = forward(chain, rows, e.data(), alpha.data(), scale.data());
  if (log_space) {
    log_space_forward(chain, rows, c.data(), alpha.data(), scale.data());
    log_space_backward(chain, rows, alpha.data(), scale.data(), c.data(), beta.data(), first_count.data(),
                       pairs.data(), entropy);
  } else {
    backward(chain, rows, alpha.data(), scale.data(), c.data(), e.data(), beta.data(), first_count.data(),
             entropy);
    for (Index t = 0; t < n; ++t)
      for (Index i = 0; i < k; ++i)
        for (Index j = 0; j < k; ++j)
          pairs[i * k + j] += alpha[t * k + i] * chain.transition[i * k + j] * e[t * k + j];
  }
  Rcpp::NumericMatrix resp(static_cast<int>(n), static_cast<int>(k)),
      pair(static_cast<int>(k), static_cast<int>(k));
  for (Index j = 0; j < k; ++j) {
    for (Index t = 0; t < n; ++t) resp(t, j) = c[t * k + j];
    for (Index i = 0; i < k; ++i) {
      pair(i, j) = pairs[i * k + j];
      entropy -= pair(i, j) * chain.log_transition[i * k + j];
    }
  }
  return Rcpp::List::create(Rcpp::_["resp"] = resp, Rcpp::_["start"] = first_count,
                            Rcpp::_["transition"] = pair, Rcpp::_["entropy"] = entropy,
                            Rcpp::_["path"] = path + 1, Rcpp::_["fast_is_exact"] = exact);
}

// q(z) of one sequence under `old` with windows replaced by what `now` has between the same states at their ends: each
// chain is a list of log_start, log_transition and log_e; windows (matrix): first and last row, and the states before
// and after (0: none there). Expected starts, transitions and responsibilities, the entropy, and what each window weighs.
Rcpp::List engine_windows(Rcpp::List old, Rcpp::List now, Rcpp::IntegerMatrix windows) {
  const auto chain_of = [](const Rcpp::List& x) {
    const Rcpp::NumericVector start = x["log_start"];
    const Rcpp::NumericMatrix p = x["log_transition"];
    Vec transition;
    for (Index i = 0; i < start.size(); ++i)
      for (Index j = 0; j < start.size(); ++j) transition.push_back(p(i, j));
    return Chain(start.size(), Vec(start.begin(), start.end()), transition);
  };
  const Chain before = chain_of(old), after = chain_of(now);
  const Index k = before.k, n = Rcpp::as<Rcpp::NumericMatrix>(old["log_e"]).nrow();
  struct Sums {
    Vec start, pair, r;
    double entropy = 0;
  };
  Sums sums{Vec(static_cast<std::size_t>(k)), Vec(static_cast<std::size_t>(k * k)),
            Vec(static_cast<std::size_t>(n * k)), 0};
  struct Pass {
    Vec c, e, alpha, scale, beta;
    std::vector<std::uint8_t> first;
  };
  const auto potentials = [&](const Rcpp::List& x, Index from, Index m) {
    const Rcpp::NumericMatrix log_e = x["log_e"];
    Pass out{{}, Vec(static_cast<std::size_t>(m * k)), Vec(static_cast<std::size_t>((m + 1) * k)),
             Vec(static_cast<std::size_t>(m)), Vec(static_cast<std::size_t>(k)),
             std::vector<std::uint8_t>(static_cast<std::size_t>(m))};
    for (Index t = from; t < from + m; ++t)
      for (Index j = 0; j < k; ++j) out.c.push_back(log_e(t, j));
    make_potentials(m, k, out.c.data(), out.e.data(), false);
    return out;
  };
  // Adds w times what is conditional on the ends, and returns the log sum.
  const auto add = [&](const Rcpp::List& x, const Chain& chain, Index from, Index m, const Ends& ends, double w,
                       Pass* kept) {
    Pass pass = potentials(x, from, m);
    Vec first_count(static_cast<std::size_t>(k)), pair(static_cast<std::size_t>(k * k));
    const WindowMessages found =
        messages_between(chain, m, ends, pass.c.data(), pass.e.data(), pass.alpha.data(), pass.scale.data(),
                         pass.beta.data(), pass.first.data(), first_count.data());
    Vec products(static_cast<std::size_t>(k * k));
    for (Index t = 0; t < m; ++t)
      for (Index i = 0; i < k; ++i)
        for (Index j = 0; j < k; ++j) products[i * k + j] += pass.alpha[t * k + i] * pass.e[t * k + j];
    sums.entropy += w * (found.entropy + add_transitions(chain, {products}, Vec(pair.size(), 0.0), pair));
    for (Index j = 0; j < k; ++j) sums.start[j] += w * first_count[j];
    if (ends.after >= 0)
      for (Index j = 0; j < k; ++j) pair[j * k + ends.after] += pass.c[(m - 1) * k + j];
    for (Index i = 0; i < k * k; ++i) sums.pair[i] += w * pair[i];
    for (Index i = 0; i < m * k; ++i) sums.r[from * k + i] += w * pass.c[i];
    if (kept) *kept = std::move(pass);
    return found.log_sum;
  };
  Pass whole;
  add(old, before, 0, n, {}, 1, &whole);
  Rcpp::NumericVector weight(windows.nrow());
  for (int i = 0; i < windows.nrow(); ++i) {
    const Index from = windows(i, 0) - 1, end = windows(i, 1);
    const Ends ends{windows(i, 2) - 1, windows(i, 3) - 1};
    const auto at = [&](Index row, Index j) {
      if (j < 0) return EndMessages{};
      return EndMessages{whole.c[row * k + j], whole.alpha[(row + 1) * k + j], whole.e[row * k + j]};
    };
    double log_scale = 0;
    for (Index t = from; t < end; ++t) log_scale += std::log(whole.scale[t]);
    const double log_sum = add(old, before, from, end - from, ends, 0, nullptr);
    weight[i] = probability_of_ends(ends, at(from - 1, ends.before), at(end, ends.after), log_scale, log_sum);
    add(old, before, from, end - from, ends, -weight[i], nullptr);
    add(now, after, from, end - from, ends, weight[i], nullptr);
  }
  Rcpp::NumericMatrix resp(static_cast<int>(n), static_cast<int>(k)), pair(static_cast<int>(k), static_cast<int>(k));
  for (Index j = 0; j < k; ++j) {
    for (Index t = 0; t < n; ++t) resp(t, j) = sums.r[t * k + j];
    for (Index i = 0; i < k; ++i) pair(i, j) = sums.pair[i * k + j];
  }
  return Rcpp::List::create(Rcpp::_["resp"] = resp, Rcpp::_["start"] = sums.start, Rcpp::_["transition"] = pair,
                            Rcpp::_["entropy"] = sums.entropy, Rcpp::_["weight"] = weight);
}

// One visit of all sequences at the given globals: `sets` are the states of each row at the last
// visit (n × L, 0: none) or NULL, `number` (or NULL) the new number of each state since (0: gone); `same`:
// they stay. The new ones, and the summary.
Rcpp::List engine_sparse_visit(Rcpp::List data, Rcpp::List model, Rcpp::List state, int width, SEXP sets,
                               SEXP number, bool same, int threads) {
  return entry([&] {
    Query q(data, model, state, threads, {width, 0});
    const std::vector<Index> units = all_units(q.data(), q.model),
                             rows = modelled_rows(q.data().starts, q.obs().capabilities().lag);
    const Index n = static_cast<Index>(rows.size());
    Visit in{q.data(), units, q.obs(), q.globals, q.weights(), q.pool};
    std::shared_ptr<const UnitMemory> last;
    if (!Rf_isNull(sets)) {
      const Rcpp::IntegerMatrix given(sets);
      auto memory = chain_memory(q.data(), units, q.obs().capabilities().lag, given.ncol());
      for (Index i = 0; i < n; ++i)
        for (Index l = 0; l < given.ncol(); ++l) memory->support.of(i)[l] = given(rows[i], l) - 1;
      last = memory;
      if (!Rf_isNull(number)) {
        const Rcpp::IntegerVector from_one(number);
        std::vector<Index> from_zero;
        for (int j : from_one) from_zero.push_back(j - 1);
        last = std::make_shared<const UnitMemory>(memory->renumbered(from_zero));
      }
    }
    in.memory = last.get();
    const HmmAlloc& hmm = hmm_of(q.model);
    const Summary s = same ? hmm.found_before(in) : hmm.local_step(in);
    const SupportTable& found = s.memory->support;
    Rcpp::IntegerMatrix out(static_cast<int>(q.data().n), static_cast<int>(found.width));
    for (Index i = 0; i < n; ++i)
      for (Index l = 0; l < found.width; ++l) out(rows[i], l) = 1 + found.of(i)[l];
    const auto matrix = [&](const double* x, Index columns) {
      Rcpp::NumericMatrix m(static_cast<int>(s.k), static_cast<int>(columns));
      for (Index j = 0; j < s.k; ++j)
        for (Index i = 0; i < columns; ++i) m(j, i) = x[j * columns + i];
      return m;
    };
    return Rcpp::List::create(Rcpp::_["sets"] = out, Rcpp::_["obs"] = matrix(s.obs.data(), s.shape.p),
                              Rcpp::_["start"] = s.extra, Rcpp::_["transition"] = matrix(s.pair.data(), s.k),
                              Rcpp::_["entropy"] = s.entropy());
  });
}

const testing::Entry entries[] = {
    {"engine_messages", {"log_start", "log_transition", "log_e", "starts", "log_space"}, engine_messages},
    {"engine_windows", {"old", "now", "windows"}, engine_windows},
    {"engine_sparse_visit",
     {"data", "model", "state", "width", "sets", "number", "same", "threads"},
     engine_sparse_visit},
};

}  // namespace
