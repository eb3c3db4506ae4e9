// The contract of an allocation model: which cluster an observation belongs to.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "inference/source.h"
#include "inference/summary.h"
#include "observations/feature_block.h"

namespace bnpvi {

/// Global variational parameters: a plain value.
///
/// `effective` is the statistic that the parameters amount to: the whole-data summary after an exact
/// global step, a running average in stochastic learning (η = η_0 + T is linear in T). u and omega are
/// the top-level sticks of the hierarchical models, empty otherwise. `weights` are those of the observation
/// model at `effective`, where they are known already, and null otherwise.
struct Globals {
  Summary effective;
  Vec u, omega;
  std::shared_ptr<const Weights> weights = nullptr;
};

/// Named terms of the objective, in a fixed order; they sum to the ELBO.
using Terms = std::vector<std::pair<std::string, double>>;

/// Receives the responsibilities of every block during a local step. visit() is called by several
/// threads at once but with different chunk numbers; chunks are numbered by position in the batch, so
/// keeping storage by chunk and joining it in order gives the same bits for any number of threads.
class ResponsibilitySink {
 public:
  virtual ~ResponsibilitySink() = default;
  virtual void begin(Index n_chunks) = 0;
  /// rows: the n rows of the block, whose features are loaded in `block`.
  virtual void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) = 0;

  /// Models with pairs only, and only when wanted: P(z_{t−1} = l, z_t = j), K × K, of a row t that does not
  /// begin its group. Not told of groups that needed careful messages.
  virtual bool wants_joint() const { return false; }
  virtual void visit_joint(Index /*row*/, const Vec& /*joint*/) {}
};

/// What a local step works on: the units of a batch at the present globals.
struct Visit {
  const Dataset& data;              // that the units are numbered in
  const std::vector<Index>& units;  // rows, or groups of rows; ascending
  const ObsModel& obs;
  const Globals& globals;
  std::shared_ptr<const Weights> weights;  // AllocModel::visit_weights at these globals
  Pool& pool;
  ResponsibilitySink* sink = nullptr;
  const UnitMemory* memory = nullptr;  // of the last visit of these units, if any
};

/// Visits batches at globals that change little from one to the next, as in one lap, so that what one visit
/// made may serve the next: the allocation model's own affair. The default makes nothing.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual Summary visit(const Visit& visit) = 0;
};

/// Which clusters q(z) may give mass to: a constraint that a fit puts on its model.
struct Sparsity {
  Index width = 0;  // L: clusters that a row, or a token, may belong to; 0: all
  Index candidates =
      0;  // of an L-sparse row: neighbours of its best cluster that it is compared with; 0: the usual
};

struct MoveKind;

/// Prior and variational posterior of the assignments. Immutable.
///
/// Laws: after global_step the ELBO is a maximum over the global parameters; local_step followed by
/// global_step never lowers the ELBO; batches' summaries add up to the whole data's.
class AllocModel {
 public:
  explicit AllocModel(const Sparsity& sparsity) : sparsity_(sparsity) {}
  virtual ~AllocModel() = default;

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

  /// Operations that an observation (of a batch in which q(z) takes its own cluster) costs, about.
  virtual Index cost_of_observation(const ObsModel& obs, const DataShape&) const { return obs.n_features(); }

  /// Weights for visits at the statistic `effective`, and Λ of every cluster in evidence (K) if that is
  /// wanted.
  virtual std::shared_ptr<const Weights> visit_weights(const ObsModel& obs, const DataShape& data,
                                                       const Summary& effective, Pool* pool,
                                                       double* evidence = nullptr) const;

  /// The optimal q(z) of the given units at fixed globals, summarised.
  virtual Summary local_step(const Visit& visit) const = 0;

  /// For the visits of one lap, each of which finds what local_step would, or a q(z) that is as good.
  virtual std::unique_ptr<Visitor> visitor() const;

  /// Statistics of at most k clusters, found in a way of this model's own, that a fit may start from. The
  /// default throws std::logic_error: there is none.
  virtual Summary own_start(const ObsModel& obs, const Source& source, Index k, Stream& stream,
                            Pool& pool) const;

  /// Completes statistics that a fit may start from: those of the clusters' observations are known, of data in
  /// n_groups groups, and those of the allocation model's own (extra, pair, scalar) are zero. The default
  /// leaves them.
  virtual void complete_start(Summary& /*start*/, Index /*n_groups*/) const {}

  /// Summary of the given units when their rows have the given responsibilities: an exact q(z), for
  /// starts and tests.
  virtual Summary summarise(const Visit& visit, const GivenResponsibilities& resp) const = 0;

  /// The same of what a summary claims to summarise, for tests: from the memory of its units where the model
  /// keeps one, else from explicit responsibilities.
  virtual Summary recompute(const Visit& visit, const GivenResponsibilities& resp) const {
    return summarise(visit, resp);
  }

  /// The memory of a batch of whose units some were visited again: `rest` is that of the batch, `again` that
  /// of the visit. The default forgets.
  virtual std::shared_ptr<const UnitMemory> joined_memory(
      const std::shared_ptr<const UnitMemory>& /*rest*/,
      const std::shared_ptr<const UnitMemory>& /*again*/) const {
    return nullptr;
  }

  /// True when q(z) is what the memory of the units says, so that no observer needs responsibilities.
  virtual bool remembers() const { return false; }

  /// Globals that maximise the ELBO given the whole-data summary; `from` warm-starts iterative searches
  /// (its u and omega may be empty or of another length).
  virtual Globals global_step(const Summary& total, const Globals& from) const = 0;

  /// Globals moved by a natural-gradient step of the given rate towards those of a noisy whole-data summary.
  virtual Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const = 0;

  /// Brings what a batch's summary keeps of earlier globals up to date, without a look at the data, so that
  /// the ELBO at these globals rises or stays. False when there is nothing to do, ever.
  virtual bool settle(Summary& /*batch*/, const Globals&) const { return false; }

  /// Terms of the ELBO other than the data term, at any globals, for assignments summarised by total.
  virtual Terms elbo_terms(const Summary& total, const Globals& globals) const = 0;

  /// E[π_k] over the K clusters, and after them whatever else a user may read (sticks, ...).
  virtual Vec mean_weights(const Globals& globals) const = 0;
  virtual NamedArrays posterior(const Globals& globals) const = 0;

  /// The moves of this family, in the order in which they take turns.
  virtual std::vector<MoveKind> moves() const;

 protected:
  const Sparsity sparsity_;
};

}  // namespace bnpvi
