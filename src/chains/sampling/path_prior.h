// The prior of the states of all rows of a hidden Markov model, with transition probabilities integrated out.
#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "chains/sampling/transition_counts.h"
#include "foundation/gamma_prior.h"
#include "foundation/random.h"

namespace bnpvi::chains {

/// A concentration of a Dirichlet prior. If it is learned, it has a prior itself, and its values are limited
/// to the range from least to most.
struct SampledConcentration {
  double value = 1;
  std::optional<GammaPrior> prior = {};
  double least = 1e-50, most = 1e50;

  void set(double x) { value = std::clamp(x, least, most); }
};

/// Draws a concentration that has a prior, by slice sampling. log_p(): must return the log probability of
/// everything that depends on the concentration, except its own prior, at the present value of c.
void draw_concentration(SampledConcentration& c, const std::function<double()>& log_p, Stream& stream);

/// K + 1 numbers that sum to 1: weights β of the K states in use and, last, the total weight of all states
/// not in use.
using StateWeights = Vec;

/// Prior of the states of all rows, with transition probabilities integrated out. β are the weights of
/// states. The first state of a sequence has probabilities ~ Dirichlet(α_0 β), the state after state j has
/// probabilities ~ Dirichlet(α β + κ δ_j). If any number of states is possible, β is made by breaking a stick
/// with Beta(1, γ). If there are at most M states, each has weight 1/M.
///
/// Members: alpha: α; start: α_0; sticky: κ.
struct PathPrior {
  Index most_states = 0;  // M, the largest number of states; 0: any number, with γ
  SampledConcentration gamma, alpha, start, sticky;

  bool open_ended() const { return most_states == 0; }
  /// Names of the concentrations: "gamma" (only if any number of states is possible), "alpha", "start",
  /// "sticky". values() and set_values() use the same order.
  std::vector<std::string> names() const;
  Vec values() const;
  void set_values(const Vec& values);

  /// The weights before any state is in use: one weight 1, for all states not in use.
  static StateWeights no_states() { return {1}; }
  /// Adds a state whose weight is a random part of the last weight, that of all states not in use (which must
  /// be above 0). The new state's weight is stored just before the last one.
  void break_weight(StateWeights& weight, Stream& stream) const;
  /// Removes state j and adds its weight to the last weight, that of all states not in use. State K − 1 gets
  /// the number j, as in TransitionCounts::drop().
  static void return_weight(StateWeights& weight, Index j);

  /// The prior count α_j β_k + κ δ_jk of transitions from `row` (0: the start; 1 + j: state j) to state k.
  /// For state = K it is the prior count of transitions to all states not in use together.
  double mass(Index row, Index state, const StateWeights& weight) const {
    return concentration(row) * weight[state] + (row == row_after(state) ? sticky.value : 0);
  }
  double mass(Index row) const { return concentration(row) + (row == start_row ? 0 : sticky.value); }
  double concentration(Index row) const { return row == start_row ? start.value : alpha.value; }

  /// The log probability of the partition of the rows into states, the weights and the learned
  /// concentrations. With c_jk the prior counts mass() and n_jk the counts of transitions it is the logarithm
  /// of
  ///   Π_j Γ(c_j) / Γ(c_j + n_j) Π_k Γ(c_jk + n_jk) / Γ(c_jk) · γ^K β_rest^γ,
  /// as a density of log(β_k / β_rest), k ≤ K, where β_rest is the weight of all states not in use. With at
  /// most M states, M! / (M − K)! replaces the last two factors. This density, multiplied by Π dβ / (β_1 ...
  /// β_K β_rest) and integrated over β, gives the probability of the partition [Teh et al. 2006; Fox et al.
  /// 2011].
  double log_probability(const TransitionCounts& counts, const StateWeights& weight) const;

  /// Draws the weights β and the learned concentrations given the counts of transitions, with transition
  /// probabilities integrated out. First γ is drawn given table counts of a Chinese restaurant franchise
  /// [Escobar & West 1995], then β given γ and these counts, then α, α_0 and κ given β by slice sampling.
  void draw(const TransitionCounts& counts, StateWeights& weight, Stream& stream);

 private:
  double log_of_rows(const TransitionCounts& counts, const StateWeights& weight) const;
};

}  // namespace bnpvi::chains
