// What the entries of truncation-free learning share.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>

#include "foundation/data.h"
#include "inference/learn/running_state.h"
#include "r_convert.h"

namespace bnpvi {

/// What an entry is given: data, model and options. data: a view in the form that the model takes.
struct StreamCall {
  StreamCall(const Rcpp::List& data, const Rcpp::List& model, const Rcpp::List& options, SEXP progress);
  const ObsModel& obs() const { return *rmodel.obs; }

  RData rdata;
  RModel rmodel;
  ListFields prior, options;
  const Dataset& data;
  RMonitor monitor;
  RPool pool;
  std::uint64_t seed;
};

/// Fields t (K × p), id, born_at, last_seen, lasting, next_id, batches, seen and untended of a stream's
/// state.
void read_running(const Rcpp::List& list, Index p, RunningState& out);
Rcpp::List running_to_r(const RunningState& running);

/// The clusters as globals, so that all that reads a fit reads them: statistics of K clusters, with empty
/// ones where the prior fixes K. No entropy: observations are assigned to one cluster each.
Globals running_globals(const RunningState& running, const RModel& model);

/// How a batch went: units, the mean score of an observation (NA: none), clusters, units seen, seconds.
struct BatchRecord {
  double rows, score, k, seen, seconds;
};

struct StreamRun {
  std::vector<BatchRecord> records;
  bool interrupted = false;
};

/// Fields clusters, state, records, departed (a row for each cluster that went: id, born_at, last_seen,
/// lasting, size, into), capped and interrupted of an entry's answer.
Rcpp::List stream_answer(const Rcpp::List& clusters, const Globals& globals, const StreamRun& run,
                         const std::vector<Departure>& departed, bool capped);

/// Learns from n units, dealt at random to options$batches batches, in options$passes passes: the units of
/// the first one were not seen before, in the others they replace what they left. half_life: units after
/// which one counts half; Inf: never. all_rows: there are no other units, so that clusters are tended at the
/// end of each pass. learn(units of a batch, keep, fresh) returns the score of the batch before it was
/// learned from.
template <class Learner, class Running, class Learn>
StreamRun run_batches(const ListFields& o, Index n, Learner& learner, const Running& running, RPool& pool,
                      Learn learn) {
  const auto seed = static_cast<std::uint64_t>(o.number("seed"));
  const double half_life = o.number("half_life");
  const Index n_batches = std::clamp<Index>(o.integer("batches"), 1, std::max<Index>(n, 1));
  const auto batches = deal_batches(n, n_batches, seed);
  StreamRun out;
  try {
    for (Index pass = 0; pass < o.integer("passes") && n > 0; ++pass) {
      const bool fresh = pass == 0;
      Stream order(seed, Purpose::batch_order, static_cast<std::uint64_t>(pass));
      for (Index b : shuffled(n_batches, order)) {
        const auto began = std::chrono::steady_clock::now();
        const auto size = static_cast<double>(batches[b].size());
        double keep = std::exp2(-size / half_life);
        if (!fresh) keep *= std::max(0.0, 1 - size / static_cast<double>(n));
        const double score = learn(batches[b], keep, fresh);
        if (learner.due()) learner.tend();
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
        out.records.push_back({size, score, static_cast<double>(running.k()), running.seen, passed.count()});
        LapRecord lap;
        lap.lap = static_cast<Index>(running.batches);
        lap.k = running.k();
        lap.elbo = score;
        pool.monitor().lap(lap);
      }
      if (o.flag("all_rows") && running.untended > 0) learner.tend();
    }
  } catch (const Interrupted&) {
    if (!o.flag("keep_interrupted") || running.k() == 0) throw;
    pool.go_on();
    out.interrupted = true;
  }
  return out;
}

/// Whether what was learned fades in these passes.
inline bool fades(const ListFields& o) {
  return std::isfinite(o.number("half_life")) || o.integer("passes") > 1;
}

}  // namespace bnpvi
