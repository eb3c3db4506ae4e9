// What the entries of truncation-free learning (streams) share.
#pragma once
#include <functional>

#include "foundation/data.h"
#include "r_convert.h"
#include "sampling/truncation_free.h"

namespace bnpvi {

/// The arguments of an entry: data, model and options. data: the data in the form that the model needs.
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

/// Converts a stream's state from and to a list with the fields t (K × p), id, born_at, last_seen, lasting,
/// next_id, batches, seen and untended.
void read_running(const Rcpp::List& list, Index p, RunningState& out);
Rcpp::List running_to_r(const RunningState& running);

/// The clusters of a stream as globals, so that code that reads a fit can read them: statistics of K
/// clusters, with empty clusters added if the prior fixes K. The entropy is 0, since each observation is
/// assigned to one cluster.
Globals running_globals(const RunningState& running, const RModel& model);

/// Record of one batch: its number of units, the mean score of its observations (NA: none), the number of
/// clusters, the number of units seen so far, and seconds.
struct BatchRecord {
  double rows, score, k, seen, seconds;
};

struct StreamRun {
  std::vector<BatchRecord> records;
  bool interrupted = false;
};

/// The list that an entry returns: clusters, state, records, departed (one row for each removed cluster: id,
/// born_at, last_seen, lasting, size, into), capped and interrupted.
Rcpp::List stream_answer(const Rcpp::List& clusters, const Globals& globals, const StreamRun& run,
                         const RunningClusterLearner& learner);

/// Reads the options sweeps, k_max, merge, split and, for topics, renewals. Earlier statistics fade if there
/// is a half-life, or more than one pass.
TruncationFreeOptions truncation_free_options(const ListFields& o);

/// Learns from n units, dealt at random to options$batches batches, in options$passes passes. In the first
/// pass units are new; in later passes the statistics of earlier passes fade by the fraction that a batch
/// has of all units, so that its units replace them. half_life: number of units after which a unit counts
/// half; Inf: no fading. all_rows: there are no other units, and clusters are maintained at the end of each
/// pass, too. learn(units of a batch, keep, fresh) returns the score of the batch before learning from it;
/// `keep` multiplies the earlier statistics.
StreamRun run_batches(const ListFields& o, Index n, RunningClusterLearner& learner, RPool& pool,
                      const std::function<double(const std::vector<Index>&, double keep, bool fresh)>& learn);

}  // namespace bnpvi
