// Optional capabilities of allocation models in addition to the core (alloc_model.h): small interfaces, to
// which a model returns pointers.
#pragma once
#include <memory>
#include <string>

#include "foundation/named_array.h"
#include "inference/learn/alloc_model.h"

namespace bnpvi {

struct State;
struct WorkGlobals;
class BatchWork;

/// Capability of models with learned concentrations. Their values are part of the model, so that learning
/// them gives another model.
class LearnedConcentrations {
 public:
  /// The same model with better values of its concentrations: the objective at the state's summaries (sums of
  /// statistics) and globals (parameters' posterior) is higher, once the tangents of the batches were renewed
  /// (Tangents). Null if the model learns no concentrations, or no better values are found.
  virtual std::shared_ptr<const AllocModel> learned(const State& state, Pool* pool) const = 0;
  /// The concentrations that learned() changes, as fields of this model; empty if the model learns none.
  virtual NamedArrays learned_fields() const = 0;
  /// Log density of the present values of the learned concentrations under their priors, a part of the ELBO's
  /// term of hyperpriors; 0 if none is learned.
  virtual double log_hyperprior() const = 0;

 protected:
  ~LearnedConcentrations() = default;
};

/// Capability of models whose summaries (sums of statistics) contain tangents, that is, linear lower bounds
/// of convex terms, taken at the globals (parameters' posterior) of the visit (update of q(z)).
class Tangents {
 public:
  /// Renews the tangents in a batch's summary (sums of statistics), which were taken at earlier globals or
  /// concentrations: they are taken at the present ones, without the data. The ELBO at the present globals
  /// (parameters' posterior) rises or stays.
  virtual void settle(Summary& batch, const Globals& globals) const = 0;

 protected:
  ~Tangents() = default;
};

/// Capability of joining clusters in models whose units are more than independent rows, such as groups whose
/// rows share weights of clusters or depend on each other.
class UnitJoins {
 public:
  /// Does a local step (AllocModel::local_step()) and stores its q(z) in explicit form in `parts`, from which
  /// the effects of joining clusters are computed (joins.h).
  virtual Summary explicit_step(const Visit& visit, JoinParts& parts) const = 0;
  /// Approximate globals (parameters' posterior) after cluster b joined a < b, for ranking pairs: the
  /// statistics are sums, and the other globals are close to the result of global_step(), without its search.
  virtual Globals merged(const Globals& globals, Index a, Index b) const = 0;

 protected:
  ~UnitJoins() = default;
};

/// Capability of models whose visits (updates of q(z)) need not multiply all features of a row by the weights
/// of all clusters.
class OwnVisits {
 public:
  /// The weights of the clusters by which visits (updates of q(z)) of these data multiply features.
  /// effective: the summary (sums of statistics) from which the clusters' parameters are estimated. evidence:
  /// receives the log evidence Λ of every cluster (K numbers), unless null.
  virtual std::shared_ptr<const Weights> visit_weights(const ObsModel& obs, const DataShape& data,
                                                       const Summary& effective, Pool* pool,
                                                       double* evidence) const = 0;
  /// Approximate number of operations that one observation costs in a birth (a proposal of new clusters). It
  /// determines how many failed births are affordable (MoveMemory).
  virtual Index cost_of_observation(const ObsModel& obs, const DataShape& data) const = 0;

 protected:
  ~OwnVisits() = default;
};

/// Capability of models whose visits start from what the last visit of the same units (rows or groups of
/// rows) stored (its memory), where this memory does not determine q(z).
class VisitMemory {
 public:
  /// Joins the memories of a batch after some of its units were visited again: returns the new memory of the
  /// batch. rest: the memory of the whole batch before; again: the memory of the repeated visit (update of
  /// q(z)). Null: the next visit starts afresh.
  virtual std::shared_ptr<const UnitMemory> joined_memory(
      const std::shared_ptr<const UnitMemory>& rest,
      const std::shared_ptr<const UnitMemory>& again) const = 0;

 protected:
  ~VisitMemory() = default;
};

/// Capability of models in which the memory of the units (rows or groups of rows) determines q(z), so that an
/// observer needs no explicit responsibilities.
class RememberedUnits {
 public:
  /// Computes the summary (sums of statistics) of the units (rows or groups of rows) anew from their memory,
  /// for tests.
  virtual Summary recompute(const Visit& visit) const = 0;

 protected:
  ~RememberedUnits() = default;
};

/// Capability of models that have a method of initialisation of their own.
class OwnStart {
 public:
  /// Computes the statistics of at most k clusters with which a fit starts.
  virtual Summary own_start(const Problem& problem, Index k, Stream& stream, Pool& pool) const = 0;

 protected:
  ~OwnStart() = default;
};

/// Capability of models with statistics that a start from clusters of observations does not provide.
class OwnStatistics {
 public:
  /// Completes the statistics of a start: those of the observations are given, and those of the allocation
  /// model (extra, pair, scalar) are zero. n_groups: the number of groups, or the sum of their weights.
  virtual void complete_start(Summary& start, double n_groups) const = 0;

 protected:
  ~OwnStatistics() = default;
};

/// Capability of models whose work can be done by another process: it reconstructs a family's watches (sinks
/// that observe a visit) and work on batches in the process that is to execute them.
class WorkReader {
 public:
  /// Reads a watch, or work on a batch, of this kind as a move has written it. The defaults know no kind and
  /// throw std::invalid_argument.
  virtual std::unique_ptr<Watch> read_watch(const std::string& kind, Reader& in) const;
  virtual std::unique_ptr<BatchWork> read_work(const std::string& kind, Index batch,
                                               std::shared_ptr<const WorkGlobals> at, Reader& in) const;

 protected:
  ~WorkReader() = default;
};

/// Capability of models whose globals (parameters' posterior) hold numbers for pairs of clusters, at the end
/// of the vector Globals::u, after the first AllocModel::numbers_in_u() numbers.
class StoredPairs {
 public:
  virtual Index numbers_of_pairs(Index k) const = 0;  // how many there are for k clusters

 protected:
  ~StoredPairs() = default;
};

/// The capabilities of a model. A pointer is null where the model lacks the capability; pointers live as long
/// as the model.
struct AllocCapabilities {
  const LearnedConcentrations* concentrations = nullptr;
  const Tangents* tangents = nullptr;
  const UnitJoins* joins = nullptr;
  const OwnVisits* visits = nullptr;
  const VisitMemory* memory = nullptr;
  const RememberedUnits* remembered = nullptr;
  const OwnStart* start = nullptr;
  const OwnStatistics* statistics = nullptr;
  const WorkReader* work = nullptr;
  const StoredPairs* pairs = nullptr;
};

// The capability of the model to learn concentrations; if it lacks the capability, a default that learns
// none. For callers that need not know which.

const LearnedConcentrations& concentrations_of(const AllocModel& alloc);
// default: no kind of watch or work is known
const WorkReader& work_reader_of(const AllocModel& alloc);

/// The weights for visits (updates of q(z)) that the model's OwnVisits capability gives, or, without that
/// capability, the weights for all features. The next function returns the cost of an observation that the
/// capability gives, or else the number of features.
std::shared_ptr<const Weights> visit_weights(const AllocModel& alloc, const ObsModel& obs,
                                             const DataShape& data, const Summary& effective, Pool* pool,
                                             double* evidence = nullptr);
Index cost_of_observation(const AllocModel& alloc, const ObsModel& obs, const DataShape& data);

/// Does the local step with explicit q(z) that the model's UnitJoins capability gives or, without that
/// capability, the one for independent rows. The next function, merged(), returns the parameters' posterior
/// after a join that the capability gives or, without it, the result of global_step().
Summary explicit_step(const AllocModel& alloc, const Visit& visit, JoinParts& parts);
Globals merged(const AllocModel& alloc, const Globals& globals, Index a, Index b);

/// Completes the statistics of a start by the model's OwnStatistics capability; without that capability, does
/// nothing.
void complete_start(const AllocModel& alloc, Summary& start, double n_groups);

/// The length of the vector Globals::u for k clusters, including the numbers for pairs (StoredPairs).
Index stored_in_u(const AllocModel& alloc, Index k);
/// True if u lacks only the numbers for pairs of clusters (StoredPairs), which an update of the parameters
/// (global step) then computes. k: number of clusters.
bool lacks_pairs(const AllocModel& alloc, const Vec& u, Index k);

/// True if what the model stores of the units (rows or groups of rows) between visits determines q(z)
/// (RememberedUnits).
bool remembers(const AllocModel& alloc);

}  // namespace bnpvi
