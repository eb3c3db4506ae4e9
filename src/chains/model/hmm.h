// Hidden Markov models: units are sequences or trees, and the state of a row depends on that of its parent,
// in a sequence the row before.
#pragma once
#include <memory>

#include "chains/messages/messages.h"
#include "chains/model/tilted_transitions.h"
#include "chains/model/transition_pattern.h"
#include "chains/model/transition_rows.h"
#include "foundation/rounded_sum.h"
#include "hdp/concentration.h"
#include "hdp/dirichlet_rows.h"
#include "hdp/top_concentration.h"
#include "inference/learn/alloc_capabilities.h"

namespace bnpvi::chains {

/// Concentrations of the Dirichlet rows of an HMM: `start` for the first state of a sequence, `alpha` for
/// every transition row, `sticky` (κ) added to self-transitions. Each state has a transition row for each
/// position of a child (Dataset::position). With a pattern, of finite models, states have places: they are
/// not alike, and keep their numbers. With a tilt transitions depend on covariates; there is one position
/// then, and all concentrations are known.
struct HmmPrior {
  Concentration alpha, start, sticky;
  Index positions = 1;
  std::shared_ptr<const TransitionPattern> pattern = nullptr;
  std::shared_ptr<const TiltedTransitions> tilt = nullptr;
};

/// Sticky HDP-HMM [Hughes 2016, ch. 6]: rows ~ Dirichlet(απ + κδ_j), first states ~ Dirichlet(α_0 π),
/// π by sticks u_k ~ Beta(1, γ).
std::unique_ptr<AllocModel> make_hdp_hmm(const HmmPrior& prior, const TopConcentration& gamma, RowBound bound,
                                         const Sparsity& sparsity);

/// Finite HMM with K states: the same with π = (1/K, ..., 1/K) known, and a pattern if the prior has one.
std::unique_ptr<AllocModel> make_hmm(const HmmPrior& prior, Index k, const Sparsity& sparsity);

/// What both models share. The summary's `pair` holds expected transitions M_jk, one number for each
/// position or covariate pattern, its `extra` (q = 1) expected first states M_0k, and its entropy is that of
/// the whole chain q(z). The globals have sticks in u and omega, if the model has any, and after them, in u,
/// the q of a tilt.
class HmmAlloc : public AllocModel,
                 public LearnedConcentrations,
                 public UnitJoins,
                 public VisitMemory,
                 public OwnStatistics,
                 public StoredPairs,
                 public WorkReader {
 public:
  /// fixed_k: 0 where sticks order any number of states.
  HmmAlloc(Index fixed_k, const HmmPrior& prior, const Sparsity& sparsity)
      : AllocModel({true, fixed_k == 0, fixed_k, fixed_k == 0}, sparsity), prior_(prior) {}

  /// True where states are not alike, and keep the numbers that they begin with.
  bool has_places() const { return prior_.pattern != nullptr; }
  bool has_covariates() const { return prior_.tilt != nullptr; }

  SummaryShape shape(const ObsModel& obs) const override;

  /// Forward–backward over each sequence, by segments of bounded length: memory grows with the length of a
  /// sequence by one message a segment only. With L-sparse responsibilities each row may be in L states only,
  /// which are remembered (chain_memory.h); the sets that a visit chooses are never worse than those it began
  /// with. Trees: upward–downward (tree_pass.h), always with all states.
  Summary local_step(const Visit& in) const override { return step(in, false); }

  Summary explicit_step(const Visit& in, JoinParts& parts) const override;

  /// The summary that the last visit of some units found, computed again: in.globals are those of that visit
  /// and in.memory, if the model has one, the memory that it left.
  Summary found_before(const Visit& in) const { return step(in, true); }

  /// Transitions as if the states of rows did not depend on each other, those that are allowed.
  void complete_start(Summary& start, double n_groups) const override;

  /// As if the rows were independent: q(z) = Π_t q(z_t).
  Summary summarise(const Visit& in, const GivenResponsibilities& resp) const override;

  std::shared_ptr<const UnitMemory> joined_memory(
      const std::shared_ptr<const UnitMemory>& rest,
      const std::shared_ptr<const UnitMemory>& again) const override;

  Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const override;
  NamedArrays posterior(const Globals& globals) const override;
  std::vector<MoveKind> moves() const override;
  AllocCapabilities capabilities() const override;
  std::unique_ptr<Watch> read_watch(const std::string& kind, Reader& in) const override;
  std::unique_ptr<BatchWork> read_work(const std::string& kind, Index batch,
                                       std::shared_ptr<const WorkGlobals> at, Reader& in) const override;

  /// α, α_0 and κ in turn, the others fixed, with θ̂ at its best for each value.
  std::shared_ptr<const AllocModel> learned(const State& state, Pool*) const override;
  NamedArrays learned_fields() const override;
  double log_hyperprior() const override;

  Index numbers_of_pairs(Index k) const override {
    return prior_.tilt ? prior_.tilt->numbers(k, k + has_sticks()) : 0;
  }

  /// The proportion of state b is added to that of a.
  Globals merged(const Globals& globals, Index a, Index b) const override;

  /// With one more state, empty, and rows of transitions near the best ones; of finite models.
  Globals with_empty_state(Globals globals) const;

  /// θ̂_jk = M_jk + α_j π_k + κ δ_jk at the globals' effective counts and sticks; of a tilt those of its q.
  TransitionRows rows(const Globals& globals) const;

  /// exp E log π_jk over the K states in use: what local steps run on.
  Chain expected_chain(const Globals& globals) const;

  /// E π_jk over all outcomes, `width` states; a state not in use has its prior row.
  Chain mean_chain(const Globals& globals) const;

 protected:
  /// π over `width` outcomes (TransitionRows).
  virtual Vec weights(const Globals& globals) const = 0;

  /// θ̂ for the counts of s and these π, over as many outcomes, as they are best where nothing tilts them.
  TransitionRows rows(const Summary& s, const Vec& pi) const;

  /// The Dirichlet parameters of the rows of k states in the prior.
  TransitionRows prior_rows(Index k, const Vec& pi) const;

  HdpSticks sticks(const Globals& globals) const;
  Vec tilts(const Globals& globals) const;  // q of a tilt

  /// Σ_j { Σ_k log Γ(θ̂_jk) − log Γ(Σ_k θ̂_jk) + Σ_k (M_jk + prior_jk − θ̂_jk) E log π_jk } for assignments
  /// summarised by total.
  RoundedSum transition_value(const Summary& total, const Globals& globals) const;

  double concentration(Index row) const { return row == 0 ? prior_.start.value : prior_.alpha.value; }

  /// The same model with other concentrations.
  virtual std::unique_ptr<HmmAlloc> with(const HmmPrior& prior) const = 0;

  /// Adds what the ELBO has of the concentrations of the start row, or of the transition rows, beside their
  /// θ̂: the bounds of their normalisers, with moments of π.
  virtual void add_normalisers(Index k, const WeightMoments& pi, bool start, RoundedSum& to) const = 0;

  const HmmPrior prior_;

 private:
  // The logarithm of a probability, or its expectation, from that of a Dirichlet row: the same without a
  // pattern.
  double log_cell(Index row, Index j, Index k, double log_p) const;
  double count(const Summary& s, Index row, Index j) const;  // of all covariate patterns
  void append_row(const Summary& s, const Vec& pi, Index row, Vec& theta) const;

  // All that the ELBO has of α_0 (start), or of α and κ.
  double value_of_rows(const Summary& total, const Globals& globals, const WeightMoments& moments,
                       bool start) const;

  // same_sets: the sets of L-sparse rows stay as they are in the memory.
  Summary step(const Visit& in, bool same_sets) const;
  Summary summary_of_visit(const Visit& in, bool same_sets) const;  // without owners
};

/// M_0k (row 0) or M_jk (further rows, as TransitionRows has them) of a summary; never negative.
double transition_count(const Summary& s, Index row, Index k);

}  // namespace bnpvi::chains
