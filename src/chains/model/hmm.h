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

/// Prior of the transitions of a hidden Markov model: concentrations of their Dirichlet rows. `start` is that
/// of the first state of a sequence, `alpha` that of every transition row, and `sticky` (κ) is added to
/// self-transitions. Each state has one transition row for each position of a child (Dataset::position).
/// pattern: which transitions are fixed or forbidden, for finite models only; the states of such a model are
/// not exchangeable, and each keeps its number (has_places()). tilt: effects of covariates on transitions;
/// there is one position then, and all concentrations are known.
struct HmmPrior {
  Concentration alpha, start, sticky;
  Index positions = 1;
  std::shared_ptr<const TransitionPattern> pattern = nullptr;
  std::shared_ptr<const TiltedTransitions> tilt = nullptr;
};

/// Makes the sticky HDP-HMM [Hughes 2016, ch. 6]: transition rows ~ Dirichlet(απ + κδ_j), first states
/// ~ Dirichlet(α_0 π), where π has sticks u_k ~ Beta(1, γ).
std::unique_ptr<AllocModel> make_hdp_hmm(const HmmPrior& prior, const TopConcentration& gamma, RowBound bound,
                                         const Sparsity& sparsity);

/// Makes the finite HMM with K states: transition rows ~ Dirichlet(απ + κδ_j) and first states
/// ~ Dirichlet(α_0 π) with π = (1/K, ..., 1/K), and with a pattern if the prior has one.
std::unique_ptr<AllocModel> make_hmm(const HmmPrior& prior, Index k, const Sparsity& sparsity);

/// Base class of the HDP-HMM and the finite HMM. In a summary (sums over rows), `pair` holds expected
/// transitions M_jk, one number for each position or covariate pattern; `extra` holds expected first states
/// M_0k, one for each state; the entropy is that of the whole chain q(z). In the globals (the parameters'
/// posterior), u and omega hold the sticks, if the model has sticks. After the sticks u holds the parameters
/// of q of a tilt (effects of covariates).
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

  /// True where states are not exchangeable (HmmPrior::pattern), so that each keeps the number it begins
  /// with.
  bool has_places() const { return prior_.pattern != nullptr; }
  bool has_covariates() const { return prior_.tilt != nullptr; }

  SummaryShape shape(const ObsModel& obs) const override;

  /// Computes q(z) of the sequences and trees of a visit by forward–backward, and returns their summary. A
  /// sequence is processed in segments (ranges of rows) of bounded length, so that only one message per
  /// segment must be kept. With L-sparse responsibilities each row may be in L states only, which are
  /// remembered (chain_memory.h); the sets that a visit chooses are never worse than those it began with.
  /// Trees are passed upward and downward (tree_pass.h), always with all states.
  Summary local_step(const Visit& in) const override { return step(in, false); }

  Summary explicit_step(const Visit& in, JoinParts& parts) const override;

  /// Computes again the summary (sums of statistics) that the last visit of some units (sequences or trees)
  /// found. in.globals must be the globals (parameters' posterior) of that visit, and in.memory, if the model
  /// has one, the memory that the visit left.
  Summary found_before(const Visit& in) const { return step(in, true); }

  /// Adds expected transitions to the statistics with which a fit starts, as if the states of rows were
  /// independent; forbidden transitions stay 0. n_groups: number of sequences.
  void complete_start(Summary& start, double n_groups) const override;

  /// The summary of a batch for given state probabilities of its rows, as if the rows were independent: q(z)
  /// = Π_t q(z_t).
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

  /// The same model with better values of the concentrations that are learned (α, α_0 and the sticky κ). They
  /// are improved one after the other, with the Dirichlet parameters θ̂ at their optimum for each value.
  std::shared_ptr<const AllocModel> learned(const State& state, Pool*) const override;
  NamedArrays learned_fields() const override;
  double log_hyperprior() const override;

  Index numbers_of_pairs(Index k) const override {
    return prior_.tilt ? prior_.tilt->numbers(k, k + has_sticks()) : 0;
  }

  /// The approximate globals (parameters' posterior) after state b joined a < b: the weight π_b is added to
  /// π_a, and the counts of both are added.
  Globals merged(const Globals& globals, Index a, Index b) const override;

  /// The globals (parameters' posterior) with an additional empty state, whose transition probabilities are
  /// near the optimum. For models with a fixed number of states, in which another state was removed.
  Globals with_empty_state(Globals globals) const;

  /// The Dirichlet parameters of all transition rows at these globals: θ̂_jk = M_jk + α_j π_k + κ δ_jk, with
  /// M the expected transitions in globals.effective, π the states' weights and κ the sticky concentration.
  /// With a tilt (effects of covariates) they are those of the tilt's q.
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

  /// The Dirichlet parameters θ̂ of the transition rows that are optimal, in a model without covariates, for
  /// the expected transitions in s and the weights pi, which has one number for each outcome.
  TransitionRows rows(const Summary& s, const Vec& pi) const;

  /// The Dirichlet parameters of the transition rows of k states under the prior, for weights pi of the
  /// outcomes.
  TransitionRows prior_rows(Index k, const Vec& pi) const;

  HdpSticks sticks(const Globals& globals) const;
  // parameters of q of the tilt (effects of covariates); empty without a tilt
  Vec tilts(const Globals& globals) const;

  /// The ELBO's term of transitions for state assignments with the summary (sums of statistics) `total`:
  ///   Σ_j { Σ_k log Γ(θ̂_jk) − log Γ(Σ_k θ̂_jk) + Σ_k (M_jk + prior_jk − θ̂_jk) E log π_jk }.
  RoundedSum transition_value(const Summary& total, const Globals& globals) const;

  double concentration(Index row) const { return row == 0 ? prior_.start.value : prior_.alpha.value; }

  /// The same model with the concentrations of another prior.
  virtual std::unique_ptr<HmmAlloc> with(const HmmPrior& prior) const = 0;

  /// Adds the terms of the ELBO that depend on the concentrations themselves, not on the posterior parameters
  /// θ̂: the bounds of the log normalisers of the Dirichlet priors of k states. pi: moments of the weights π.
  /// start: true for the prior of the first state, false for the priors of the transition rows.
  virtual void add_normalisers(Index k, const WeightMoments& pi, bool start, RoundedSum& to) const = 0;

  const HmmPrior prior_;

 private:
  // The log probability of a cell of the transition matrix, or the expectation of this logarithm. log_p: its
  // log probability (or expectation) in the Dirichlet distribution of the row's free cells. The two differ
  // only if there is a pattern of fixed cells: the free cells then share what is left of the probability.
  double log_cell(Index row, Index j, Index k, double log_p) const;
  // expected transitions M_jk, summed over all covariate patterns
  double count(const Summary& s, Index row, Index j) const;
  void append_row(const Summary& s, const Vec& pi, Index row, Vec& theta) const;

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
