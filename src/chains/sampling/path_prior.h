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

/// A concentration of a Dirichlet prior and, if it is to be learned, its own prior and the range to which it
/// is clamped.
struct SampledConcentration {
  double value = 1;
  std::optional<GammaPrior> prior = {};
  double least = 1e-50, most = 1e50;

  void set(double x) { value = std::clamp(x, least, most); }
};

/// Draws a concentration that has a prior, by slice sampling. log_p(): must return the log probability of
/// everything else, given the value that c has at the time of the call.
void draw_concentration(SampledConcentration& c, const std::function<double()>& log_p, Stream& stream);

/// Weights β of the K states in use and, last, of all states not in use together: K + 1 numbers that sum to
/// 1.
using StateWeights = Vec;

/// Prior of the states of all rows, with transition probabilities integrated out. The first state of a
/// sequence has the distribution Dirichlet(α_0 β), the state after state j Dirichlet(α β + κ δ_j). The
/// weights β of states come from sticks Beta(1, γ); for at most M states they are (1/M, ..., 1/M).
struct PathPrior {
  Index most_states = 0;  // M, the largest number of states; 0: any number, with γ
  SampledConcentration gamma, alpha, start, sticky;

  bool open_ended() const { return most_states == 0; }
  /// Names of the concentrations: "gamma" (if the number of states is open), "alpha", "start", "sticky";
  /// values() has the same order.
  std::vector<std::string> names() const;
  Vec values() const;
  void set_values(const Vec& values);

  /// The weights if no state is in use: 1 for all states not in use.
  static StateWeights no_states() { return {1}; }
  /// Adds a state just before the last weight, which is that of all states not in use and must be above 0.
  /// The new state's weight is a random part of it.
  void break_weight(StateWeights& weight, Stream& stream) const;
  /// Removes state j and adds its weight to that of all states not in use. State K − 1 gets the number j, as
  /// in TransitionCounts::drop().
  static void return_weight(StateWeights& weight, Index j);

  /// The prior count of a transition, α_jβ_k + κδ_jk, from `row` (0: the start, 1 + j: state j) to state k.
  /// For state = K it is the prior count of transitions to all states not in use together.
  double mass(Index row, Index state, const StateWeights& weight) const {
    return concentration(row) * weight[state] + (row == row_after(state) ? sticky.value : 0);
  }
  double mass(Index row) const { return concentration(row) + (row == start_row ? 0 : sticky.value); }
  double concentration(Index row) const { return row == start_row ? start.value : alpha.value; }

  /// log p(partition of the rows into states, weights, learned concentrations). With c_jk the prior counts
  /// mass() and n_jk the counts of transitions it is the logarithm of
  ///   Π_j Γ(c_j) / Γ(c_j + n_j) Π_k Γ(c_jk + n_jk) / Γ(c_jk) · γ^K β_rest^γ,
  /// as a density of log(β_k / β_rest), k ≤ K, with β_rest the weight of all states not in use; with at most
  /// M states, M! / (M − K)! replaces the last two factors. Multiplied by Π dβ / (β_1 ... β_K β_rest) and
  /// integrated over β, it is the law of the partition [Teh et al. 2006; Fox et al. 2011].
  double log_probability(const TransitionCounts& counts, const StateWeights& weight) const;

  /// Draws the weights β, γ and the other learned concentrations given the counts of transitions, with
  /// transition probabilities integrated out: γ given table counts [Escobar & West 1995], β given both, then
  /// α, α_0 and κ given β by slice sampling.
  void draw(const TransitionCounts& counts, StateWeights& weight, Stream& stream);

 private:
  double log_of_rows(const TransitionCounts& counts, const StateWeights& weight) const;
};

}  // namespace bnpvi::chains
