// What the entries of truncation-free learning share.
#pragma once
#include <functional>

#include "foundation/data.h"
#include "r_convert.h"
#include "sampling/truncation_free.h"

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
                         const RunningClusterLearner& learner);

/// Options sweeps, k_max, merge, split and, of topics, renewals. What was learned fades with a half-life, and
/// in several passes.
TruncationFreeOptions truncation_free_options(const ListFields& o);

/// Learns from n units, dealt at random to options$batches batches, in options$passes passes: the units of
/// the first one were not seen before, in the others they replace what they left. half_life: units after
/// which one counts half; Inf: never. all_rows: there are no other units; clusters are then maintained at the
/// end of each pass. learn(units of a batch, keep, fresh) returns the score of the batch before it was
/// learned from.
StreamRun run_batches(const ListFields& o, Index n, RunningClusterLearner& learner, RPool& pool,
                      const std::function<double(const std::vector<Index>&, double keep, bool fresh)>& learn);

}  // namespace bnpvi
