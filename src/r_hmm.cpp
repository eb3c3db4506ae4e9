// Entries that evaluate a fitted hidden Markov model on data.
#include <algorithm>
#include <numeric>
#include <utility>

#include "chains/messages/smooth_states.h"
#include "chains/model/chain_memory.h"
#include "chains/model/hmm.h"
#include "chains/model/sequence_rows.h"
#include "chains/sampling/path_filter.h"
#include "chains/trees/tree_messages.h"
#include "observations/cluster_densities.h"
#include "r_hmm.h"

using namespace bnpvi;
using namespace bnpvi::chains;

namespace bnpvi {

const HmmAlloc& hmm_of(const RModel& model) {
  const auto* hmm = alloc_as<HmmAlloc>(*model.alloc);
  if (!hmm) throw std::invalid_argument("not a hidden Markov model");
  return *hmm;
}

void require_positions(const Dataset& data, const RModel& model) {
  const Index patterns = model.alloc->patterns(), n = patterns > 0 ? patterns
                                                      : alloc_as<HmmAlloc>(*model.alloc)
                                                          ? model.alloc->shape(*model.obs).pairs
                                                          : 1;
  const auto* hmm = alloc_as<HmmAlloc>(*model.alloc);
  require(patterns > 0 || !data.position || data.back || (hmm && hmm->has_covariates()),
          "data$position has not a number for each row, as there is no data$back");
  require(n == 1 || data.position, "the model wants positions of rows, which the data do not have");
  require(!data.position ||
              std::all_of(data.position, data.position + data.n, [n](int p) { return 0 <= p && p < n; }),
          "data$position has numbers that are no positions of the model");
}

Chain mean_chain(const Query& q, bool first_only) {
  const Chain chain = hmm_of(q.model).mean_chain(q.globals);
  if (!first_only) return chain;
  const Index k = q.k();
  Vec log_rows;
  const auto add = [&](const double* row) {
    const double all = log_sum_exp(k, row);
    for (Index j = 0; j < k; ++j) log_rows.push_back(row[j] - all);
  };
  add(chain.log_start.data());
  for (Index p = 0; p < chain.positions(); ++p)
    for (Index j = 0; j < k; ++j) add(chain.log_transition.data() + chain.block(p) + j * chain.k);
  return Chain(k, Vec(log_rows.begin(), log_rows.begin() + k), Vec(log_rows.begin() + k, log_rows.end()),
               chain.has_zeros);
}

}  // namespace bnpvi

namespace {

// For each row, how many rows earlier the row is on which it depends. A sequence is a tree in which each row
// follows the previous one.
std::vector<int> steps_back(const SequenceRows& s) {
  if (!s.back.empty()) return s.back;
  std::vector<int> out(static_cast<std::size_t>(s.size()), 1);
  out[0] = 0;
  return out;
}

// Owners of the k outcomes of a chain; states that are not in use have no owner.
std::vector<int> owners(const Query& q, Index k) {
  std::vector<int> out = q.globals.effective.owner;
  out.resize(static_cast<std::size_t>(k), 0);
  return out;
}

}  // namespace

// [[Rcpp::export]]
Rcpp::IntegerVector engine_viterbi(Rcpp::List data, Rcpp::List model, Rcpp::List state, int threads) {
  return entry([&] {
    Query q(data, model, state, threads);
    const Chain chain = hmm_of(q.model).expected_chain(q.globals);
    const std::shared_ptr<const Weights> weights = q.weights();
    Rcpp::IntegerVector out =
        made_in_r([&] { return Rcpp::IntegerVector(static_cast<int>(q.data().n), NA_INTEGER); });
    int* label = out.begin();
    for_sequences(q.data(), q.obs().capabilities().lag, q.pool, [&](const SequenceRows& s, Index) {
      Vec log_e(static_cast<std::size_t>(s.size() * chain.k));
      std::vector<int> path(static_cast<std::size_t>(s.size()));
      for_chunks(s.size(), q.pool, [&](Index, Index from, Index n) {
        FeatureBlock block(q.obs(), q.data());
        log_likelihoods(block, *weights, q.globals.effective.owner, s.rows.data() + from, n,
                        log_e.data() + from * chain.k);
      });
      const std::vector<int> back = steps_back(s);
      if (s.back.empty() && s.position.empty())
        viterbi(chain, s.size(), log_e.data(), path.data());
      else
        most_probable_states(chain, {s.size(), back.data(), data_or_null(s.position)}, log_e.data(),
                             path.data());
      for (Index i = 0; i < s.size(); ++i) label[s.rows[i]] = 1 + path[i];
    });
    return out;
  });
}

// States of the modelled rows, rows × chains, drawn from q(z) of a fit, as initial labels for chains with
// these numbers.
// [[Rcpp::export]]
Rcpp::IntegerMatrix engine_draw_paths(Rcpp::List data, Rcpp::List model, Rcpp::List state,
                                      Rcpp::NumericVector numbers, double seed, int threads) {
  return entry([&] {
    Query q(data, model, state, threads);
    const Chain chain = hmm_of(q.model).expected_chain(q.globals);
    Vec log_rows = chain.log_start;
    log_rows.insert(log_rows.end(), chain.log_transition.begin(), chain.log_transition.end());
    const PathFilter filter(chain.k, log_rows);
    const std::shared_ptr<const Weights> weights = q.weights();
    const Index n = static_cast<Index>(modelled_rows(q.data().starts, q.obs().capabilities().lag).size());
    Rcpp::IntegerMatrix out =
        made_in_r([&] { return Rcpp::IntegerMatrix(static_cast<int>(n), static_cast<int>(numbers.size())); });
    int* label = out.begin();
    q.pool.run(numbers.size(), [&](Index c) {
      Stream stream(static_cast<std::uint64_t>(seed), Purpose::first_draw,
                    static_cast<std::uint64_t>(numbers[c]));
      FeatureBlock block(q.obs(), q.data());
      SequenceRows s;
      Vec log_e;
      int* path = label + c * n;
      for (Index g = 0; g < q.data().n_groups(); ++g) {
        q.pool.poll();
        s.clear();
        s.append(q.data(), g, q.obs().capabilities().lag);
        log_e.resize(static_cast<std::size_t>(s.size() * chain.k));
        log_likelihoods(block, *weights, owners(q, chain.k), s.rows.data(), s.size(), log_e.data());
        filter.draw(s.size(), log_e.data(), nullptr, stream, path);
        path += s.size();
      }
    });
    for (int& j : out) ++j;
    return out;
  });
}

namespace {

// Computes log p(x | state) for the rows of a sequence or tree, n × K, without their base measure; returns
// the sum of the logs of the base measure.
double log_potentials(const ClusterDensities& densities, Query& q, const SequenceRows& s, Vec& log_e) {
  const Index k = densities.k();
  log_e.resize(static_cast<std::size_t>(s.size() * k));
  Vec sums(static_cast<std::size_t>(count_chunks(s.size())));
  for_chunks(s.size(), q.pool, [&](Index chunk, Index begin, Index n) {
    FeatureBlock block(q.obs(), q.data());
    Vec log_p, base(static_cast<std::size_t>(block.block_rows()));
    for (Index from = begin, end = begin + n; from < end; from += block.block_rows()) {
      const Index m = std::min(block.block_rows(), end - from);
      block.load(s.rows.data() + from, m);
      densities.of(block, log_p);
      base_of(q.obs()).log_base(q.data(), s.rows.data() + from, m, base.data());
      for (Index i = 0; i < m; ++i) {
        sums[chunk] += base[i];
        for (Index j = 0; j < k; ++j) log_e[(from + i) * k + j] = log_p[j * m + i];
      }
      if (block.labelled()) exclude_forbidden(block, m, owners(q, k), log_e.data() + from * k);
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

// For each sequence or group of trees, log p of its rows (NA without rows), under posterior means of the
// transitions and the posterior predictive of each state. `plugin`: as in engine_filter_states().
// [[Rcpp::export]]
Rcpp::NumericVector engine_tree_log_density(Rcpp::List data, Rcpp::List model, Rcpp::List state, bool plugin,
                                            int threads) {
  return entry([&] {
    Query q(data, model, state, threads);
    const Chain chain = mean_chain(q, plugin);
    const ClusterDensities densities(q.obs(), q.globals.effective.obs, chain.k,
                                     plugin ? DensityAt::point_estimate : DensityAt::posterior);
    Rcpp::NumericVector out =
        made_in_r([&] { return Rcpp::NumericVector(static_cast<int>(q.data().n_groups()), NA_REAL); });
    double* value = out.begin();
    for_sequences(q.data(), q.obs().capabilities().lag, q.pool, [&](const SequenceRows& s, Index group) {
      Vec log_e;
      const std::vector<int> back = steps_back(s);
      const double base = log_potentials(densities, q, s, log_e);
      value[group] = base + log_evidence(chain, {s.size(), back.data(), data_or_null(s.position)}, log_e);
    });
    return out;
  });
}

// p(z_t | all rows of the sequence or tree, z_t is in use), n × K, under posterior means of the transitions
// and the posterior predictive of each state, as in engine_filter_states(); NA for rows that are not
// modelled.
// [[Rcpp::export]]
Rcpp::NumericMatrix engine_smoothed_states(Rcpp::List data, Rcpp::List model, Rcpp::List state, int threads) {
  return entry([&] {
    Query q(data, model, state, threads);
    const Chain chain = mean_chain(q, false);
    const Index k = q.k(), n = q.data().n;
    const ClusterDensities densities(q.obs(), q.globals.effective.obs, chain.k, DensityAt::posterior);
    Rcpp::NumericMatrix out =
        made_in_r([&] { return Rcpp::NumericMatrix(static_cast<int>(n), static_cast<int>(k)); });
    std::fill(out.begin(), out.end(), NA_REAL);
    double* value = out.begin();
    for_sequences(q.data(), q.obs().capabilities().lag, q.pool, [&](const SequenceRows& s, Index) {
      const std::vector<int> back = steps_back(s);
      Vec log_e;
      log_potentials(densities, q, s, log_e);
      const Vec r =
          smoothed_states(chain, {s.size(), back.data(), data_or_null(s.position)}, std::move(log_e), k);
      for (Index i = 0; i < s.size(); ++i)
        for (Index j = 0; j < k; ++j) value[j * n + s.rows[i]] = r[i * k + j];
    });
    return out;
  });
}

// Posterior means of π: in the first row the start, then the transition matrices, one position after the
// other. Columns: the states in use and, if the model has them, all others together.
// [[Rcpp::export]]
Rcpp::NumericMatrix engine_mean_transitions(Rcpp::List model, Rcpp::List state) {
  return entry([&] {
    const RModel rmodel(model);
    const Globals globals = state_from_r(state, rmodel);
    const Chain chain = hmm_of(rmodel).mean_chain(globals);
    const Index k = chain.k;
    const Index n = chain.positions() * k;
    Rcpp::NumericMatrix out(static_cast<int>(n + 1), static_cast<int>(k));
    for (Index j = 0; j < k; ++j) {
      out(0, j) = chain.start[j];
      for (Index i = 0; i < n; ++i) out(i + 1, j) = chain.transition[i * k + j];
    }
    return out;
  });
}
