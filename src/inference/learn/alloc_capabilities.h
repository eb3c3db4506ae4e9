// Optional capabilities of allocation models beside their core (alloc_model.h). Each is a small interface; a
// model returns a pointer to it if it has the capability.
#pragma once
#include <memory>
#include <string>

#include "foundation/named_array.h"
#include "inference/learn/alloc_model.h"

namespace bnpvi {

struct State;
struct WorkGlobals;
class BatchWork;

/// Capability of models with concentrations that are learned. Their values are part of the model, so learning
/// them gives another model.
class LearnedConcentrations {
 public:
  /// The same model with better values of its concentrations. Better means: once the tangents of the batches
  /// are renewed (Tangents), the ELBO is higher at the summaries and globals of the state. Null if the model
  /// learns no concentrations, or if no better values are found.
  virtual std::shared_ptr<const AllocModel> learned(const State& state, Pool* pool) const = 0;
  /// The concentrations that learned() changes, as fields of this model; empty if the model learns none.
  virtual NamedArrays learned_fields() const = 0;
  /// The log density of the present values of the learned concentrations under their priors. It is part of
  /// the term of hyperpriors in the ELBO. 0 if none is learned.
  virtual double log_hyperprior() const = 0;

 protected:
  ~LearnedConcentrations() = default;
};

/// Capability of models whose summaries contain tangents: linear lower bounds of convex terms of the ELBO. A
/// visit (update of q(z)) takes them at the globals of that time.
class Tangents {
 public:
  /// Renews the tangents in the summary of a batch: takes them at the present globals and concentrations,
  /// without the data. The ELBO at the present globals rises or stays.
  virtual void settle(Summary& batch, const Globals& globals) const = 0;

 protected:
  ~Tangents() = default;
};

/// Capability of joining clusters in models where rows are not independent: groups whose rows share the
/// weights of clusters, or rows that depend on each other.
class UnitJoins {
 public:
  /// Makes a local step (AllocModel::local_step()) and also stores its q(z) in explicit form in `parts`. From
  /// this the effects of joining clusters are computed (joins.h).
  virtual Summary explicit_step(const Visit& visit, JoinParts& parts) const = 0;
  /// Approximate globals after cluster b joined cluster a < b, for ranking pairs of clusters. The statistics
  /// are added up. The other globals are close to those of global_step(), but need no search.
  virtual Globals merged(const Globals& globals, Index a, Index b) const = 0;

 protected:
  ~UnitJoins() = default;
};

/// Capability of models in which a visit (update of q(z)) need not multiply all features of a row by the
/// weights of all clusters.
class OwnVisits {
 public:
  /// The weights of the clusters: numbers by which a visit (update of q(z)) multiplies the features of the
  /// rows. data: the shape of the data to be visited. effective: the sums of statistics from which the
  /// clusters' parameters are estimated. evidence: receives the log evidence Λ of each of the K clusters,
  /// unless null.
  virtual std::shared_ptr<const Weights> visit_weights(const ObsModel& obs, const DataShape& data,
                                                       const Summary& effective, Pool* pool,
                                                       double* evidence) const = 0;
  /// The approximate number of operations for one observation in a birth (proposal of new clusters). It
  /// determines how many failed births are affordable (MoveMemory).
  virtual Index cost_of_observation(const ObsModel& obs, const DataShape& data) const = 0;

 protected:
  ~OwnVisits() = default;
};

/// Capability of models in which a unit (row or group of rows) stores its last q(z), or part of it, as a
/// start for the next visit. This memory does not determine q(z).
class VisitMemory {
 public:
  /// The new memory of a batch after a visit of some of its units. rest: the memory of the whole batch
  /// before. again: the memory of the visited units. A null result means that the next visit starts without
  /// memory.
  virtual std::shared_ptr<const UnitMemory> joined_memory(
      const std::shared_ptr<const UnitMemory>& rest,
      const std::shared_ptr<const UnitMemory>& again) const = 0;

 protected:
  ~VisitMemory() = default;
};

/// Capability of models in which the memory of the units (rows or groups of rows) determines q(z). Observers
/// of these models need no explicit responsibilities.
class RememberedUnits {
 public:
  /// Recomputes the summary (sums of statistics) of the units from their memory, for tests.
  virtual Summary recompute(const Visit& visit) const = 0;

 protected:
  ~RememberedUnits() = default;
};

/// Capability of models with a start of their own.
class OwnStart {
 public:
  /// Computes statistics of at most k clusters with which a fit can start.
  virtual Summary own_start(const Problem& problem, Index k, Stream& stream, Pool& pool) const = 0;

 protected:
  ~OwnStart() = default;
};

/// Capability of models with statistics that do not follow from a clustering of the observations at the
/// start.
class OwnStatistics {
 public:
  /// Completes the statistics of a start. The statistics of the observations are given. This fills in those
  /// of the allocation model (extra, pair, scalar), which are zero. n_groups: the number of groups, or the
  /// sum of their weights.
  virtual void complete_start(Summary& start, double n_groups) const = 0;

 protected:
  ~OwnStatistics() = default;
};

/// Capability of models whose work can be done by another process. There it makes the watches (observers of a
/// visit) and the tasks of this family from the bytes that were sent.
class WorkReader {
 public:
  /// Reads a watch, or work on a batch, of the given kind, as a move has written it. By default no kind is
  /// known, and std::invalid_argument is thrown.
  virtual std::unique_ptr<Watch> read_watch(const std::string& kind, Reader& in) const;
  virtual std::unique_ptr<BatchWork> read_work(const std::string& kind, Index batch,
                                               std::shared_ptr<const WorkGlobals> at, Reader& in) const;

 protected:
  ~WorkReader() = default;
};

/// Capability of models whose globals hold numbers for pairs of clusters. They are at the end of Globals::u,
/// after the first AllocModel::numbers_in_u() numbers.
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

// The model's capability to learn concentrations or, if it lacks this, a default that learns none.

const LearnedConcentrations& concentrations_of(const AllocModel& alloc);
// default: no kind of watch or work is known
const WorkReader& work_reader_of(const AllocModel& alloc);

/// The capability OwnVisits where the model has it, with defaults where it has not. visit_weights(): by
/// default the weights for all features. cost_of_observation(): by default the number of features.
std::shared_ptr<const Weights> visit_weights(const AllocModel& alloc, const ObsModel& obs,
                                             const DataShape& data, const Summary& effective, Pool* pool,
                                             double* evidence = nullptr);
Index cost_of_observation(const AllocModel& alloc, const ObsModel& obs, const DataShape& data);

/// The capability UnitJoins where the model has it, with defaults where it has not. explicit_step(): by
/// default the local step of independent rows. merged(): by default the result of global_step().
Summary explicit_step(const AllocModel& alloc, const Visit& visit, JoinParts& parts);
Globals merged(const AllocModel& alloc, const Globals& globals, Index a, Index b);

/// Completes the statistics of a start if the model has the capability OwnStatistics; otherwise does nothing.
void complete_start(const AllocModel& alloc, Summary& start, double n_groups);

/// The length of the vector Globals::u for k clusters, including the numbers for pairs (StoredPairs).
Index stored_in_u(const AllocModel& alloc, Index k);
/// True if u lacks only the numbers for pairs of the k clusters (StoredPairs). An update of the parameters
/// (global step) computes these.
bool lacks_pairs(const AllocModel& alloc, const Vec& u, Index k);

/// True if what the units (rows or groups of rows) store between visits determines q(z) (RememberedUnits).
bool remembers(const AllocModel& alloc);

}  // namespace bnpvi
