// Hidden Markov models of sequences and trees. The state of a row depends on that of the row before or, in a
// tree, of the row's parent.
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

/// Prior of the transitions of a hidden Markov model, with concentrations of Dirichlet distributions. start:
/// of the first state of a sequence. alpha: of every transition row. sticky: κ, which is added to
/// self-transitions. positions: each state has one transition row for each position of a child
/// (Dataset::position). pattern: which transitions are fixed or forbidden, in finite models only. States of
/// such a model are not exchangeable, and each keeps its number (has_places()). tilt: effects of covariates
/// on transitions; then there is one position, and all concentrations are known.
struct HmmPrior {
  Concentration alpha, start, sticky;
  Index positions = 1;
  std::shared_ptr<const TransitionPattern> pattern = nullptr;
  std::shared_ptr<const TiltedTransitions> tilt = nullptr;
};

/// Makes the sticky HDP-HMM [Hughes 2016, ch. 6]. Transition rows are ~ Dirichlet(απ + κδ_j), first states ~
/// Dirichlet(α_0 π), and π has sticks u_k ~ Beta(1, γ).
std::unique_ptr<AllocModel> make_hdp_hmm(const HmmPrior& prior, const TopConcentration& gamma, RowBound bound,
                                         const Sparsity& sparsity);

/// Makes the finite HMM with K states. Transition rows are ~ Dirichlet(απ + κδ_j), first states ~
/// Dirichlet(α_0 π), and π = (1/K, ..., 1/K). If the prior has a pattern, it applies.
std::unique_ptr<AllocModel> make_hmm(const HmmPrior& prior, Index k, const Sparsity& sparsity);

/// Base class of the HDP-HMM and the finite HMM. A summary (sums over rows) has in `pair` expected
/// transitions M_jk, for each position or covariate pattern, and in `extra` expected first states M_0k. Its
/// entropy is that of the whole chain q(z). In the globals (posterior of the parameters), u and omega have
/// the sticks, if there are any. After the sticks u has the parameters of q of a tilt (effects of
/// covariates).
class HmmAlloc : public AllocModel,
                 public LearnedConcentrations,
                 public UnitJoins,
                 public VisitMemory,
                 public OwnStatistics,
                 public StoredPairs,
                 public WorkReader {
 public:
  /// fixed_k: number of states; 0 if it is open (stick-breaking weights).
  HmmAlloc(Index fixed_k, const HmmPrior& prior, const Sparsity& sparsity)
      : AllocModel({true, fixed_k == 0, fixed_k, fixed_k == 0}, sparsity), prior_(prior) {}

  /// True if states are not exchangeable (HmmPrior::pattern). Then each state keeps its number.
  bool has_places() const { return prior_.pattern != nullptr; }
  bool has_covariates() const { return prior_.tilt != nullptr; }

  SummaryShape shape(const ObsModel& obs) const override;

  /// Computes q(z) of the sequences and trees of a visit by forward–backward, and returns their summary.
  /// Sequences are processed in segments (ranges of rows) of bounded length, so that only one message must be
  /// kept for each segment. With L-sparse responsibilities each row may be in L states only. These sets are
  /// stored (chain_memory.h), and those that a visit chooses are never worse than those at its start. Trees
  /// are passed upward and downward (tree_pass.h), always with all states.
  Summary local_step(const Visit& in) const override { return step(in, false); }

  Summary explicit_step(const Visit& in, JoinParts& parts) const override;

  /// Recomputes the summary that the last visit of some units (sequences or trees) found. in.globals must be
  /// the globals of that visit; in.memory, if the model has one, the memory that the visit left.
  Summary found_before(const Visit& in) const { return step(in, true); }

  /// Adds expected transitions to the statistics of a start, as if the states of rows were independent.
  /// Forbidden transitions stay 0. n_groups: number of sequences.
  void complete_start(Summary& start, double n_groups) const override;

  /// The summary of a batch for given state probabilities of its rows. Treats the rows as independent: q(z) =
  /// Π_t q(z_t).
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

  /// This model with better values of the concentrations that are learned (α, α_0 and the sticky κ). They are
  /// improved one after the other. For each value the Dirichlet parameters θ̂ are taken at their optimum.
  std::shared_ptr<const AllocModel> learned(const State& state, Pool*) const override;
  NamedArrays learned_fields() const override;
  double log_hyperprior() const override;

  Index numbers_of_pairs(Index k) const override {
    return prior_.tilt ? prior_.tilt->numbers(k, k + has_sticks()) : 0;
  }

  /// The approximate globals after state b joined a < b: the weight π_b is added to π_a, and the counts of b
  /// to those of a.
  Globals merged(const Globals& globals, Index a, Index b) const override;

  /// The globals with one more, empty state, whose transition probabilities are near the optimum. For models
  /// with a fixed number of states, after another state was removed.
  Globals with_empty_state(Globals globals) const;

  /// The Dirichlet parameters of all transition rows at these globals: θ̂_jk = M_jk + α_j π_k + κ δ_jk. M:
  /// expected transitions in globals.effective; π: weights of the states; κ: sticky concentration. With a
  /// tilt (effects of covariates) they are those of q of the tilt.
  TransitionRows rows(const Globals& globals) const;

  /// The chain on which local steps (updates of q(z)) run: its transition probabilities are exp E log π_jk
  /// for the K states in use.
  Chain expected_chain(const Globals& globals) const;

  /// The chain with transition probabilities E π_jk for all `width` outcomes (TransitionRows). A state that
  /// is not in use has the transition row of the prior.
  Chain mean_chain(const Globals& globals) const;

 protected:
  /// The weights π of all `width` outcomes (TransitionRows): the K states and, in an open-ended model, all
  /// states not in use together.
  virtual Vec weights(const Globals& globals) const = 0;

  /// The optimal Dirichlet parameters θ̂ of the transition rows, in a model without covariates, for the
  /// expected transitions in s. pi: weights of the outcomes.
  TransitionRows rows(const Summary& s, const Vec& pi) const { return rows(&s, s.k, pi); }

  /// The Dirichlet parameters of the transition rows of k states under the prior, for weights pi of the
  /// outcomes.
  TransitionRows prior_rows(Index k, const Vec& pi) const { return rows(nullptr, k, pi); }

  HdpSticks sticks(const Globals& globals) const;
  // parameters of q of the tilt (effects of covariates); empty without a tilt
  Vec tilts(const Globals& globals) const;

  /// The term of transitions in the ELBO, for the summary `total`:
  ///   Σ_j { Σ_k log Γ(θ̂_jk) − log Γ(Σ_k θ̂_jk) + Σ_k (M_jk + prior_jk − θ̂_jk) E log π_jk }.
  RoundedSum transition_value(const Summary& total, const Globals& globals) const;

  double concentration(Index row) const { return row == 0 ? prior_.start.value : prior_.alpha.value; }

  /// The same model with the concentrations of another prior.
  virtual std::unique_ptr<HmmAlloc> with(const HmmPrior& prior) const = 0;

  /// Adds the terms of the ELBO that depend on the concentrations directly, not through θ̂: the bounds of the
  /// log normalisers of the Dirichlet priors of k states. pi: moments of the weights π. start: true for the
  /// prior of the first state, false for those of the transition rows.
  virtual void add_normalisers(Index k, const WeightMoments& pi, bool start, RoundedSum& to) const = 0;

  const HmmPrior prior_;

 private:
  // The log probability of a cell of the transition matrix, or the expectation of it. log_p: the same in the
  // Dirichlet distribution of the free cells of the row. The two differ only if a pattern fixes cells: the
  // free cells then share what is left of the probability.
  double log_cell(Index row, Index j, Index k, double log_p) const;
  // expected transitions M_jk, summed over all covariate patterns
  double count(const Summary& s, Index row, Index j) const;
  // counts: null: the Dirichlet parameters under the prior
  TransitionRows rows(const Summary* counts, Index k, const Vec& pi) const;
  void append_row(const Summary* counts, Index k, const Vec& pi, Index row, Vec& theta) const;

  // All terms of the ELBO that depend on the concentration α_0 (start = true), or on α and κ (start = false).
  double value_of_rows(const Summary& total, const Globals& globals, const WeightMoments& moments,
                       bool start) const;

  // Computes q(z) and its summary (sums of statistics). same_sets: the sets of states that L-sparse rows may
  // be in are left as they are in the memory.
  Summary step(const Visit& in, bool same_sets) const;
  // the summary without the classes of the states (Summary::owner)
  Summary summary_of_visit(const Visit& in, bool same_sets) const;
};

/// The expected number of first states, M_0k (row 0), or of transitions, M_jk (rows from 1 on, in the order
/// of TransitionRows), in a summary (sums of statistics). Never negative.
double transition_count(const Summary& s, Index row, Index k);

}  // namespace bnpvi::chains
