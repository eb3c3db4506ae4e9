// Entries for tests: windows of chains, stretches of rows that are visited again given the states at their
// ends.
#include <numeric>

#include "chains/moves/windows.h"
#include "r_hmm.h"
#include "r_testing_entries.h"

using namespace bnpvi;
using namespace bnpvi::chains;

namespace {

// q(z) of one sequence under `old`, with windows replaced by the conditional distribution under `now` given
// the states at their ends. Each chain is a list of log_start, log_transition and log_e. windows: a matrix
// with first and last row, and the states before and after (0: none). Returns expected starts, transitions
// and responsibilities, the entropy, and the weight of each window.
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
    Pass out{{},
             Vec(static_cast<std::size_t>(m * k)),
             Vec(static_cast<std::size_t>((m + 1) * k)),
             Vec(static_cast<std::size_t>(m)),
             Vec(static_cast<std::size_t>(k)),
             std::vector<std::uint8_t>(static_cast<std::size_t>(m))};
    for (Index t = from; t < from + m; ++t)
      for (Index j = 0; j < k; ++j) out.c.push_back(log_e(t, j));
    make_potentials(m, k, out.c.data(), out.e.data(), false);
    return out;
  };
  // Adds w times the distribution given the ends, and returns its log normaliser.
  const auto add = [&](const Rcpp::List& x, const Chain& chain, Index from, Index m, const Ends& ends,
                       double w, Pass* kept) {
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
  Rcpp::NumericMatrix resp(static_cast<int>(n), static_cast<int>(k)),
      pair(static_cast<int>(k), static_cast<int>(k));
  for (Index j = 0; j < k; ++j) {
    for (Index t = 0; t < n; ++t) resp(t, j) = sums.r[t * k + j];
    for (Index i = 0; i < k; ++i) pair(i, j) = sums.pair[i * k + j];
  }
  return Rcpp::List::create(Rcpp::_["resp"] = resp, Rcpp::_["start"] = sums.start,
                            Rcpp::_["transition"] = pair, Rcpp::_["entropy"] = sums.entropy,
                            Rcpp::_["weight"] = weight);
}

// ELBOs at the globals of `now` for three q(z) of all sequences: the optimum at the globals of `old`; the
// same with windows around some rows (matrix: first and last row, ascending) replaced by their distribution
// under `now` given their ends; and the optimum. Also by how much the windows change the statistics of all
// states together: starts, transitions, rows.
Rcpp::List engine_window_visit(Rcpp::List data, Rcpp::List model, Rcpp::List old, Rcpp::List now,
                               Rcpp::IntegerMatrix around, int threads) {
  return entry([&] {
    Query before(data, model, old, threads), after(data, model, now, threads);
    const HmmAlloc& alloc = hmm_of(before.model);
    const std::vector<Index> units = all_units(before.data(), before.model);
    const MemorySource source(before.data(), {units});
    const Problem problem{source, before.obs(), alloc, 0, nobody, &before.pool};
    const auto batch = source.open(0);
    Snapshot seen;
    const std::size_t n = static_cast<std::size_t>(source.shape().n);
    seen.k = before.k();
    seen.label.assign(n, -1);
    seen.mass.resize(static_cast<std::size_t>(source.shape().n_groups * seen.k));
    seen.weight.resize(static_cast<std::size_t>(source.shape().n_groups));
    seen.messages.resize(n);
    seen.log_scale.resize(n);
    seen.at = {std::make_shared<const WorkGlobals>(WorkGlobals{before.globals, false})};
    SnapshotWatch watch(seen.k, true);
    watch.visiting(*batch, nullptr);
    const auto best = [&](Query& q, ResponsibilitySink* sink) {
      return alloc.local_step({q.data(), units, q.obs(), q.globals, q.weights(), q.pool, sink});
    };
    const Summary was = best(before, &watch);
    watch.finish();
    watch.put_into(seen, *batch);

    MoveMemory memory(seen.k, 1);
    const std::unique_ptr<Visitor> visitor = alloc.visitor();
    const MoveOptions options;
    const MoveContext context{problem, options, memory, *visitor, before.pool, 1};
    std::vector<Index> groups;
    for (Index g = 0; g < source.shape().n_groups; ++g) groups.push_back(g);
    const Sequences sequences(source, groups);
    std::vector<Stretch> stretches;
    for (int i = 0; i < around.nrow(); ++i) stretches.push_back({around(i, 0) - 1, around(i, 1)});
    const Windows windows(seen, context, alloc, sequences, stretches);
    std::vector<Index> number;
    for (Index j = 0; j < seen.k; ++j) number.push_back(j);
    bool sure = windows.worthwhile();
    Summary change = sure ? windows.visit(after.globals, number, sure) : was;
    if (sure) change.add(windows.before(), -1);
    Summary replaced = was;
    if (sure) replaced.add(change);
    const auto elbo = [&](const Summary& s) { return sum_terms(elbo_terms(problem, s, after.globals)); };
    const auto sum = [](const Vec& x) { return std::accumulate(x.begin(), x.end(), 0.0); };
    return Rcpp::List::create(
        Rcpp::_["elbo"] = Rcpp::NumericVector::create(elbo(was), elbo(replaced), elbo(best(after, nullptr))),
        Rcpp::_["change"] =
            Rcpp::NumericVector::create(sum(change.extra), sum(change.pair), sum(change.sizes())),
        Rcpp::_["rows"] = windows.rows(), Rcpp::_["sure"] = sure, Rcpp::_["statistics"] = change.pair);
  });
}

const testing::Entry entries[] = {
    {"engine_windows", {"old", "now", "windows"}, engine_windows},
    {"engine_window_visit", {"data", "model", "old", "now", "around", "threads"}, engine_window_visit},
};

}  // namespace
