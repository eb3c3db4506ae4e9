// The contract of an allocation model: which cluster an observation belongs to.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "candidates.h"
#include "feature_block.h"
#include "pool.h"
#include "summary.h"

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

  /// Chains only, and only when wanted: P(z_{t−1} = l, z_t = j), K × K, of a row t that does not begin a
  /// sequence. Not told of sequences that needed careful messages.
  virtual bool wants_joint() const { return false; }
  virtual void visit_joint(Index /*row*/, const Vec& /*joint*/) {}
};

/// What a local step works on.
struct LocalInput {
  const Dataset& data;
  const std::vector<Index>& units;  // rows (mixtures), documents or sequences of the batch, ascending
  const ObsModel& obs;
  const Weights& weights;  // of the observation model at the current globals
  const Globals& globals;
  Pool& pool;
  Index width = 0;  // L of L-sparse responsibilities; 0 = dense
  ResponsibilitySink* sink = nullptr;
  const UnitMemory* memory = nullptr;      // of the last visit of these units, if any
  Index candidates = 0;                    // neighbours of a cluster; 0 = all clusters are looked at
  const Neighbours* neighbours = nullptr;  // at about the present globals, if any
  bool same_sets = false;  // sparse chains: the sets of the memory stay, as to reproduce a summary
  std::shared_ptr<const Weights> shared_weights;  // `weights`, when a model that remembers them may keep them
};

class Move;
struct MoveContext;

/// Prior and variational posterior of the assignments. Immutable.
///
/// Laws: after global_step the ELBO is a maximum over the global parameters; local_step followed by
/// global_step never lowers the ELBO; batches' summaries add up to the whole data's.
class AllocModel {
 public:
  virtual ~AllocModel() = default;

  virtual SummaryShape shape(const ObsModel& obs) const = 0;

  /// True when units are groups of rows (documents, sequences), false when they are single rows.
  virtual bool grouped() const = 0;

  /// Fixed number of clusters, or 0 when the model lets it vary.
  virtual Index fixed_k() const { return 0; }

  /// True when the globals have top-level sticks: u and omega, one of each for every cluster.
  virtual bool has_sticks() const { return false; }

  /// True when the objective depends on the order of the clusters (sticks), so that reordering is a move.
  virtual bool ordered() const = 0;

  /// The optimal q(z) of the given units at fixed globals, summarised.
  virtual Summary local_step(const LocalInput& in) const = 0;

  /// What local_step asks for as `neighbours` when it has a use for them; in.memory is that of the units.
  virtual std::shared_ptr<const Neighbours> neighbours(const LocalInput&) const { return nullptr; }

  /// Summary of the given units when their rows have the given responsibilities: an exact q(z), for
  /// starts and tests.
  virtual Summary summarise(const LocalInput& in, const GivenResponsibilities& resp) const = 0;

  /// The same of what a summary claims to summarise, for audits: from the memory of its units where the model
  /// keeps one, else from explicit responsibilities.
  virtual Summary recompute(const LocalInput& in, const GivenResponsibilities& resp) const {
    return summarise(in, resp);
  }

  /// True when q(z) is what the memory of the units says, so that an audit needs no responsibilities.
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

  /// The moves of this family; nullptr (the default) where there is none.
  virtual std::unique_ptr<Move> birth_move(const MoveContext& context) const;
  virtual std::unique_ptr<Move> merge_move(const MoveContext& context) const;
  virtual std::unique_ptr<Move> delete_move(const MoveContext& context) const;
  virtual std::unique_ptr<Move> resplit_move(const MoveContext& context) const;
};

}  // namespace bnpvi
