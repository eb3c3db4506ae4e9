// What some allocation models have beside the core (alloc_model.h): small interfaces, handed out by pointer.
#pragma once
#include <memory>
#include <string>

#include "foundation/named_array.h"
#include "inference/learn/alloc_model.h"

namespace bnpvi {

struct State;
struct WorkGlobals;
class BatchWork;

/// Concentrations that are learned. What was learned is part of the model: learning gives another model.
class LearnedConcentrations {
 public:
  /// The same model with these concentrations at better values: the objective at the state's summaries and
  /// globals is higher, once settle() has told the batches. Null when it learns none, or finds none better.
  virtual std::shared_ptr<const AllocModel> learned(const State& state, Pool* pool) const = 0;
  /// What learned() changes, as fields of this model; empty when it learns nothing.
  virtual NamedArrays learned_fields() const = 0;
  /// Log density of the present values of the concentrations that are learned, a part of the ELBO's term of
  /// hyperpriors; 0 where none is.
  virtual double log_hyperprior() const = 0;

 protected:
  ~LearnedConcentrations() = default;
};

/// Summaries that have something of the globals of their visit: tangents, lower bounds of convex terms.
class Tangents {
 public:
  /// Renews what a batch's summary has of earlier globals, or of earlier learned concentrations, at the
  /// present ones, without the data; the ELBO at these rises or stays.
  virtual void settle(Summary& batch, const Globals& globals) const = 0;

 protected:
  ~Tangents() = default;
};

/// Joins of clusters where units are more than rows on their own.
class UnitJoins {
 public:
  /// local_step(), of which `parts` get the q(z) in explicit form: all that joining clusters changes beyond
  /// sums.
  virtual Summary explicit_step(const Visit& visit, JoinParts& parts) const = 0;
  /// Globals after cluster b joined a < b, for ranking pairs: the statistics are sums, and the rest is close
  /// to the result of global_step(), without a search.
  virtual Globals merged(const Globals& globals, Index a, Index b) const = 0;

 protected:
  ~UnitJoins() = default;
};

/// Visits that do not multiply all features of a row by the weights of all clusters.
class OwnVisits {
 public:
  /// Weights for visits of these data at the statistic `effective`. evidence: receives Λ of every cluster, K
  /// numbers, unless null.
  virtual std::shared_ptr<const Weights> visit_weights(const ObsModel& obs, const DataShape& data,
                                                       const Summary& effective, Pool* pool,
                                                       double* evidence) const = 0;
  /// Roughly the number of operations that one observation costs in a birth, which tells how many failures
  /// are affordable (MoveMemory).
  virtual Index cost_of_observation(const ObsModel& obs, const DataShape& data) const = 0;

 protected:
  ~OwnVisits() = default;
};

/// Memory of a visit from which the next one starts, in models whose q(z) it does not determine.
class VisitMemory {
 public:
  /// The memory of a batch after some of its units were visited again: `rest` is that of the whole batch
  /// before, `again` that of the visit. Null: the next visit starts afresh.
  virtual std::shared_ptr<const UnitMemory> joined_memory(
      const std::shared_ptr<const UnitMemory>& rest,
      const std::shared_ptr<const UnitMemory>& again) const = 0;

 protected:
  ~VisitMemory() = default;
};

/// Memory of the units that determines q(z), so that an observer needs no explicit responsibilities.
class RememberedUnits {
 public:
  /// Summary of the units computed anew from their memory, for tests.
  virtual Summary recompute(const Visit& visit) const = 0;

 protected:
  ~RememberedUnits() = default;
};

/// Starts by a method that only this model has.
class OwnStart {
 public:
  /// Statistics of at most k clusters.
  virtual Summary own_start(const Problem& problem, Index k, Stream& stream, Pool& pool) const = 0;

 protected:
  ~OwnStart() = default;
};

/// Statistics of the allocation model's own, which a start from clusters does not know.
class OwnStatistics {
 public:
  /// Completes statistics that a fit may start from: those of the clusters' observations are known, of data
  /// in n_groups groups (their weights together), and those of the allocation model's own (extra, pair,
  /// scalar) are zero.
  virtual void complete_start(Summary& start, double n_groups) const = 0;

 protected:
  ~OwnStatistics() = default;
};

/// Watches and work of a family's moves, made anew in the process that is to do them.
class WorkReader {
 public:
  /// What moves wrote of a watch, or of work on a batch, of this kind. The defaults know none and throw
  /// std::invalid_argument.
  virtual std::unique_ptr<Watch> read_watch(const std::string& kind, Reader& in) const;
  virtual std::unique_ptr<BatchWork> read_work(const std::string& kind, Index batch,
                                               std::shared_ptr<const WorkGlobals> at, Reader& in) const;

 protected:
  ~WorkReader() = default;
};

/// Globals that have more in u than AllocModel::numbers_in_u() says, last: numbers of pairs of clusters.
class StoredPairs {
 public:
  virtual Index numbers_of_pairs(Index k) const = 0;  // in u, of k clusters

 protected:
  ~StoredPairs() = default;
};

/// What a model has beside the core. Pointers are null where it does not have that; they live as long as the
/// model.
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

// For callers that need not know whether a model has something: its own, or what stands for none.

const LearnedConcentrations& concentrations_of(const AllocModel& alloc);  // none is learned
const WorkReader& work_reader_of(const AllocModel& alloc);                // knows no kind

/// OwnVisits, or the weights of all features, which are also the cost.
std::shared_ptr<const Weights> visit_weights(const AllocModel& alloc, const ObsModel& obs,
                                             const DataShape& data, const Summary& effective, Pool* pool,
                                             double* evidence = nullptr);
Index cost_of_observation(const AllocModel& alloc, const ObsModel& obs, const DataShape& data);

/// UnitJoins, or of rows that are independent of each other: joined globals are then those of global_step().
Summary explicit_step(const AllocModel& alloc, const Visit& visit, JoinParts& parts);
Globals merged(const AllocModel& alloc, const Globals& globals, Index a, Index b);

/// OwnStatistics, if there are any.
void complete_start(const AllocModel& alloc, Summary& start, double n_groups);

/// All numbers in u of the globals of k clusters, StoredPairs included.
Index stored_in_u(const AllocModel& alloc, Index k);
/// True when u has all but those of StoredPairs, which a global step then finds.
bool lacks_pairs(const AllocModel& alloc, const Vec& u, Index k);

/// True when the memory of the units determines q(z) (RememberedUnits).
bool remembers(const AllocModel& alloc);

}  // namespace bnpvi
