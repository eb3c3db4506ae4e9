// The contract of an allocation model: which cluster an observation belongs to.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "inference/joins.h"
#include "inference/source.h"
#include "inference/summary.h"
#include "observations/feature_block.h"

namespace bnpvi {

/// Global variational parameters; a plain value.
///
/// `effective` is the summary that determines the posterior of the clusters (natural parameters η = η_0 + T
/// are linear in it): the whole-data summary after an exact global step, a running average in stochastic
/// learning. u and omega are the top-level sticks of hierarchical models, empty in others.
/// `weights` caches visit_weights() at `effective`; null when that was not computed yet.
struct Globals {
  Summary effective;
  Vec u, omega;
  std::shared_ptr<const Weights> weights = nullptr;
};

/// Named terms of the ELBO in a fixed order; they sum to it.
using Terms = std::vector<std::pair<std::string, double>>;

/// Receives the responsibilities of every block of rows during a local step. visit() is called by several
/// threads at once, but for one chunk by one thread at a time. Chunks are numbered by their position in the
/// batch: a sink that stores by chunk and joins chunks in order has the same bits for any number of threads.
class ResponsibilitySink {
 public:
  virtual ~ResponsibilitySink() = default;
  /// Called first; chunks 0 .. n_chunks − 1 follow.
  virtual void begin(Index n_chunks) = 0;
  /// rows: the n rows of the block, whose features are loaded in `block`.
  virtual void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) = 0;

  /// True when visit_joint() should be called, by models with statistics of pairs: with P(z_pa(t) = l,
  /// z_t = j), K × K (row l), of each row t that has a parent (steps_to_parent).
  virtual bool wants_joint() const { return false; }
  virtual void visit_joint(Index /*row*/, const Vec& /*joint*/) {}
};

/// A sink that can look on in another process: what it looks for can be written there, and what it found is
/// written back.
class Watch : public ResponsibilitySink {
 public:
  /// The visit of this batch with these weights is next.
  virtual void visiting(const Batch& /*batch*/, const std::shared_ptr<const Weights>& /*weights*/) {}
  /// The visit has ended.
  virtual void finish() {}

  virtual std::string kind() const = 0;  // by which AllocModel::read_watch() knows it
  virtual void write_task(Writer& out) const = 0;
  virtual void write_result(Writer& out) const = 0;
  /// weights: of the visit.
  virtual void read_result(Reader& in, const std::shared_ptr<const Weights>& weights) = 0;
};

/// What a local step works on: the units of a batch at the present globals.
struct Visit {
  const Dataset& data;              // in which units are numbered
  const std::vector<Index>& units;  // rows, or groups of rows, which are ascending
  const ObsModel& obs;
  const Globals& globals;
  std::shared_ptr<const Weights> weights;  // AllocModel::visit_weights at these globals
  Pool& pool;
  ResponsibilitySink* sink = nullptr;
  const UnitMemory* memory = nullptr;  // of the last visit of these units, if any
};

/// Makes the visits of one lap. An allocation model may derive its own visitor to reuse, from one batch to
/// the next, what changes little with the globals (such as which clusters are near each other). What it may
/// reuse must not make a visit end with a lower ELBO. The default calls local_step().
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual Summary visit(const Visit& visit) = 0;

  /// Visits at these globals, of batches with such a memory (null: none has one), are next, some perhaps in
  /// other processes, whose visitors read what this one has for reuse.
  virtual void prepare(const Globals& /*globals*/, const UnitMemory* /*memory*/, Pool& /*pool*/) {}
  virtual void write(Writer& /*out*/) const {}
  virtual void read(Reader& /*in*/) {}
};

/// Constraint of a fit on q(z): how many clusters a row or token may belong to.
struct Sparsity {
  Index width = 0;  // L: clusters that a row, or a token, may belong to; 0: all
  Index candidates =
      0;  // neighbours of its best cluster with which an L-sparse row is compared; 0: the model's default
};

struct MoveKind;
struct Problem;
struct State;
struct WorkGlobals;
class BatchWork;

/// The prior of the assignments z and the form of q(z). Immutable.
///
/// Laws: after global_step the ELBO is a maximum over the global parameters; local_step followed by
/// global_step never lowers the ELBO; batches' summaries add up to the whole data's.
class AllocModel {
 public:
  explicit AllocModel(const Sparsity& sparsity) : sparsity_(sparsity) {}
  virtual ~AllocModel() = default;

  /// Sizes of the summaries of this model with the given observation model.
  virtual SummaryShape shape(const ObsModel& obs) const = 0;

  /// True when units are groups of rows, false when they are single rows.
  virtual bool grouped() const = 0;

  /// Fixed number of clusters, or 0 when the model lets it vary.
  virtual Index fixed_k() const { return 0; }

  /// True when the globals have top-level sticks: u and omega, one of each for every cluster.
  virtual bool has_sticks() const { return false; }

  /// True when the objective depends on the order of the clusters (sticks), so that reordering is a move.
  virtual bool ordered() const = 0;

  /// L of L-sparse responsibilities; 0: dense.
  Index width() const { return sparsity_.width; }

  /// Roughly the number of operations that one observation costs in a birth, which tells how many failures
  /// are affordable (MoveMemory).
  virtual Index cost_of_observation(const ObsModel& obs, const DataShape&) const { return obs.n_features(); }

  /// Weights for visits of these data at the statistic `effective`. evidence: receives Λ of every cluster, K
  /// numbers, unless null.
  virtual std::shared_ptr<const Weights> visit_weights(const ObsModel& obs, const DataShape& data,
                                                       const Summary& effective, Pool* pool,
                                                       double* evidence = nullptr) const;

  /// Summary of the optimal q(z) of the given units at fixed globals; where the optimum is local or
  /// constrained (L-sparse), of one that is not below what visit.memory holds.
  virtual Summary local_step(const Visit& visit) const = 0;

  /// local_step(), of which `parts` get the q(z) in explicit form: all that joining clusters changes beyond
  /// sums. The default takes rows as independent of each other.
  virtual Summary explicit_step(const Visit& visit, JoinParts& parts) const;

  /// A new visitor for one lap.
  virtual std::unique_ptr<Visitor> visitor() const;

  /// What moves of this family wrote of a watch, or of work on a batch, of this kind. The defaults throw
  /// std::invalid_argument.
  virtual std::unique_ptr<Watch> read_watch(const std::string& kind, Reader& in) const;
  virtual std::unique_ptr<BatchWork> read_work(const std::string& kind, Index batch,
                                               std::shared_ptr<const WorkGlobals> at, Reader& in) const;

  /// Statistics of at most k clusters to start from, by a method that only this model has. The default throws
  /// std::logic_error.
  virtual Summary own_start(const Problem& problem, Index k, Stream& stream, Pool& pool) const;

  /// Completes statistics that a fit may start from: those of the clusters' observations are known, of data
  /// in n_groups groups (their weights together), and those of the allocation model's own (extra, pair,
  /// scalar) are zero. The default leaves them.
  virtual void complete_start(Summary& /*start*/, double /*n_groups*/) const {}

  /// Summary of the given units when their rows have the given responsibilities, for starts and tests.
  virtual Summary summarise(const Visit& visit, const GivenResponsibilities& resp) const = 0;

  /// Summary of the units computed anew for tests: from their memory where that determines q(z)
  /// (remembers()), else from the explicit responsibilities.
  virtual Summary recompute(const Visit& visit, const GivenResponsibilities& resp) const {
    return summarise(visit, resp);
  }

  /// The memory of a batch after some of its units were visited again: `rest` is that of the whole batch
  /// before, `again` that of the visit. The default keeps nothing (null), so that the next visit starts
  /// afresh.
  virtual std::shared_ptr<const UnitMemory> joined_memory(
      const std::shared_ptr<const UnitMemory>& /*rest*/,
      const std::shared_ptr<const UnitMemory>& /*again*/) const {
    return nullptr;
  }

  /// True when the memory of the units determines q(z), so that an observer needs no explicit
  /// responsibilities.
  virtual bool remembers() const { return false; }

  /// Globals that maximise the ELBO given the whole-data summary; `from` warm-starts iterative searches
  /// (its u and omega may be empty or of another length).
  virtual Globals global_step(const Summary& total, const Globals& from) const = 0;

  /// Globals after cluster b joined a < b, for ranking pairs: the statistics are sums, and the rest is close
  /// to the result of global_step, without a search. The default is global_step, for models whose globals are
  /// in closed form.
  virtual Globals merged(const Globals& globals, Index a, Index b) const;

  /// Globals moved by a natural-gradient step of the given rate towards those of a noisy whole-data summary.
  virtual Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const = 0;

  /// Renews what a batch's summary has of earlier globals (tangents, lower bounds of convex terms) or of
  /// earlier learned concentrations at the present ones, without the data; the ELBO at these rises or stays.
  /// False for models whose summaries have none.
  virtual bool settle(Summary& /*batch*/, const Globals&) const { return false; }

  /// The same model with the concentrations that it learns at better values: the objective at the state's
  /// summaries and globals is higher, once settle() has told the batches. Null when it learns none, or finds
  /// none better.
  virtual std::shared_ptr<const AllocModel> learned(const State& /*state*/, Pool* /*pool*/) const {
    return nullptr;
  }

  /// What learned() changes, as fields of this model; empty when it learns nothing.
  virtual NamedArrays learned_fields() const { return {}; }

  /// Log density of the present values of the concentrations that are learned, a part of the ELBO's term of
  /// hyperpriors; 0 (the default) where none is.
  virtual double log_hyperprior() const { return 0; }

  /// Terms of the ELBO other than those of data and hyperpriors, for assignments with the summary `total`;
  /// globals need not be optimal.
  virtual Terms elbo_terms(const Summary& total, const Globals& globals) const = 0;

  /// E[π_k] of the K clusters and, in infinite models, the remainder after them (K + 1 numbers).
  virtual Vec mean_weights(const Globals& globals) const = 0;
  /// Parameters of q(π) for users: sticks, counts, transition rows, ...
  virtual NamedArrays posterior(const Globals& globals) const = 0;

  /// The moves of this family, in the order in which they take turns.
  virtual std::vector<MoveKind> moves() const;

 protected:
  const Sparsity sparsity_;
};

}  // namespace bnpvi
