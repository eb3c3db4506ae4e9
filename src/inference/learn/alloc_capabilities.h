// Optional capabilities of allocation models besides the core (alloc_model.h): small interfaces, to which a
// model returns pointers.
#pragma once
#include <memory>
#include <string>

#include "foundation/named_array.h"
#include "inference/learn/alloc_model.h"

namespace bnpvi {

struct State;
struct WorkGlobals;
class BatchWork;

/// Learned concentrations. Their values are part of the model, so that learning them gives another model.
class LearnedConcentrations {
 public:
  /// The same model with better values of its concentrations: the objective at the state's summaries and
  /// globals is higher, once the tangents of the batches were renewed (Tangents). Null when the model learns
  /// no concentrations, or none better are found.
  virtual std::shared_ptr<const AllocModel> learned(const State& state, Pool* pool) const = 0;
  /// The values that learned() changes, as fields of this model; empty when the model learns none.
  virtual NamedArrays learned_fields() const = 0;
  /// Log density of the present values of the learned concentrations, a part of the ELBO's term of
  /// hyperpriors; 0 where none is learned.
  virtual double log_hyperprior() const = 0;

 protected:
  ~LearnedConcentrations() = default;
};

/// For models whose summaries contain tangents, that is, linear lower bounds of convex terms, taken at the
/// globals of the visit.
class Tangents {
 public:
  /// Renews the tangents of a batch's summary, which were taken at earlier globals or concentrations, at the
  /// present ones, without the data. The ELBO at the present globals rises or stays.
  virtual void settle(Summary& batch, const Globals& globals) const = 0;

 protected:
  ~Tangents() = default;
};

/// For joining clusters in models whose units are more than independent rows, such as groups whose rows share
/// weights of clusters or depend on each other.
class UnitJoins {
 public:
  /// Does a local step (AllocModel::local_step()) and stores its q(z) in explicit form in `parts`, from which
  /// the effects of joining clusters are computed (joins.h).
  virtual Summary explicit_step(const Visit& visit, JoinParts& parts) const = 0;
  /// Approximate globals after cluster b joined a < b, for ranking pairs: the statistics are sums, and the
  /// other globals are close to the result of global_step(), without its search.
  virtual Globals merged(const Globals& globals, Index a, Index b) const = 0;

 protected:
  ~UnitJoins() = default;
};

/// For models whose visits need not multiply all features of a row by the weights of all clusters.
class OwnVisits {
 public:
  /// The weights of the clusters, by which visits of these data multiply features, given the summary
  /// `effective` that determines the posterior of the clusters. evidence: receives the log evidence Λ of
  /// every cluster (K numbers), unless null.
  virtual std::shared_ptr<const Weights> visit_weights(const ObsModel& obs, const DataShape& data,
                                                       const Summary& effective, Pool* pool,
                                                       double* evidence) const = 0;
  /// Approximate number of operations that one observation costs in a birth; it determines how many failed
  /// births are affordable (MoveMemory).
  virtual Index cost_of_observation(const ObsModel& obs, const DataShape& data) const = 0;

 protected:
  ~OwnVisits() = default;
};

/// For models whose visits start from what the last visit of the same units stored (its memory), where this
/// memory does not determine q(z).
class VisitMemory {
 public:
  /// Called after some units of a batch were visited again: returns the new memory of the batch. rest: the
  /// memory of the whole batch before; again: the memory of the repeated visit. Null: the next visit starts
  /// afresh.
  virtual std::shared_ptr<const UnitMemory> joined_memory(
      const std::shared_ptr<const UnitMemory>& rest,
      const std::shared_ptr<const UnitMemory>& again) const = 0;

 protected:
  ~VisitMemory() = default;
};

/// For models in which the memory of the units determines q(z), so that an observer needs no explicit
/// responsibilities.
class RememberedUnits {
 public:
  /// Computes the summary of the units anew from their memory, for tests.
  virtual Summary recompute(const Visit& visit) const = 0;

 protected:
  ~RememberedUnits() = default;
};

/// For models that have a method of initialisation of their own.
class OwnStart {
 public:
  /// Returns the statistics of at most k clusters.
  virtual Summary own_start(const Problem& problem, Index k, Stream& stream, Pool& pool) const = 0;

 protected:
  ~OwnStart() = default;
};

/// For models with statistics that a start from clusters of observations does not provide.
class OwnStatistics {
 public:
  /// Completes the statistics of a start: those of the observations are given, and those of the allocation
  /// model (extra, pair, scalar) are zero. n_groups: the number of groups, or the sum of their weights.
  virtual void complete_start(Summary& start, double n_groups) const = 0;

 protected:
  ~OwnStatistics() = default;
};

/// Reconstructs a family's watches (sinks that observe a visit) and work on batches in the process that is to
/// execute them.
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

/// For models whose globals hold numbers for pairs of clusters, at the end of the vector Globals::u, after
/// the first AllocModel::numbers_in_u() numbers.
class StoredPairs {
 public:
  virtual Index numbers_of_pairs(Index k) const = 0;  // how many, for k clusters

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

// For callers that need not know whether a model has a capability: the model's own implementation, or a
// default.

const LearnedConcentrations& concentrations_of(const AllocModel& alloc);  // default: none is learned
const WorkReader& work_reader_of(const AllocModel& alloc);                // default: knows no kind

/// OwnVisits::visit_weights() and cost_of_observation() of the model; without that capability, the weights
/// for all features, and the number of features as the cost.
std::shared_ptr<const Weights> visit_weights(const AllocModel& alloc, const ObsModel& obs,
                                             const DataShape& data, const Summary& effective, Pool* pool,
                                             double* evidence = nullptr);
Index cost_of_observation(const AllocModel& alloc, const ObsModel& obs, const DataShape& data);

/// UnitJoins::explicit_step() and merged() of the model; without that capability, versions for independent
/// rows, in which merged() is the result of global_step().
Summary explicit_step(const AllocModel& alloc, const Visit& visit, JoinParts& parts);
Globals merged(const AllocModel& alloc, const Globals& globals, Index a, Index b);

/// OwnStatistics::complete_start() of the model; without that capability, does nothing.
void complete_start(const AllocModel& alloc, Summary& start, double n_groups);

/// The length of the vector Globals::u for k clusters, including the numbers for pairs (StoredPairs).
Index stored_in_u(const AllocModel& alloc, Index k);
/// True when u lacks only the numbers for pairs of clusters (StoredPairs), which a global step then computes.
bool lacks_pairs(const AllocModel& alloc, const Vec& u, Index k);

/// True when what is remembered of the units between visits determines q(z) (RememberedUnits).
bool remembers(const AllocModel& alloc);

}  // namespace bnpvi
