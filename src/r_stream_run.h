// What the exported functions for truncation-free learning (of streams, batch by batch) share.
#pragma once
#include <functional>

#include "foundation/data.h"
#include "r_convert.h"
#include "sampling/truncation_free.h"

namespace bnpvi {

/// The arguments of an exported function for streams: data, model and options. data: the rows in the form
/// that the model needs.
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

/// Reads the clusters of a stream from an R list with the fields t (statistics, K × p), id, born_at,
/// last_seen, lasting, next_id, batches, seen and untended. running_to_r() writes such a list.
void read_running(const Rcpp::List& list, Index p, RunningState& out);
Rcpp::List running_to_r(const RunningState& running);

/// The clusters of a stream in the form of a fit's globals (the parameters that all units share), for
/// functions that read fits. These are the statistics of K clusters; empty clusters are added if the prior
/// fixes K. The entropy is 0, since each observation is assigned to one cluster.
Globals running_globals(const RunningState& running, const RModel& model);

/// Record of one batch of a stream.
///   rows: its number of units (rows or groups);
///   score: the mean log density of its observations before learning from them (NA: none);
///   k: number of clusters; seen: number of units seen so far; seconds: time in seconds.
struct BatchRecord {
  double rows, score, k, seen, seconds;
};

struct StreamRun {
  std::vector<BatchRecord> records;
  bool interrupted = false;
};

/// The R list that learning from a stream returns: clusters, state, records, departed (one row for each
/// removed cluster: id, born_at, last_seen, lasting, size, into), capped and interrupted.
Rcpp::List stream_answer(const Rcpp::List& clusters, const Globals& globals, const StreamRun& run,
                         const RunningClusterLearner& learner);

/// Reads the options sweeps, k_max, merge, split and, for topics, renewals. TruncationFreeOptions::fades is
/// true if there is a half-life, or more than one pass over the data.
TruncationFreeOptions truncation_free_options(const ListFields& o);

/// Learns from n units (rows or groups) in options$passes passes. In each pass, units are dealt at random to
/// options$batches batches. In the first pass units are new. In later passes the earlier statistics are
/// reduced, before a batch is added, by the batch's proportion of all units. So its units replace their own
/// earlier contributions.
///   half_life (an option): number of units after which a unit counts half; Inf: no fading.
///   all_rows (an option): there are no other units; clusters are also maintained after each pass.
///   learn(units of a batch, keep, fresh): learns from a batch. Returns its score before that. keep: the
///     factor by which the earlier statistics are multiplied; fresh: whether the units are new.
StreamRun run_batches(const ListFields& o, Index n, RunningClusterLearner& learner, RPool& pool,
                      const std::function<double(const std::vector<Index>&, double keep, bool fresh)>& learn);

}  // namespace bnpvi
