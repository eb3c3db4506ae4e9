// The prior of the states of all rows, transition probabilities integrated out.
#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "chains/sampling/transition_counts.h"
#include "foundation/gamma_prior.h"
#include "foundation/random.h"

namespace bnpvi::chains {

/// A concentration and, if it is to be learned, its prior and the range to which it is clamped.
struct SampledConcentration {
  double value = 1;
  std::optional<GammaPrior> prior = {};
  double least = 1e-50, most = 1e50;

  void set(double x) { value = std::clamp(x, least, most); }
};

/// Draws a concentration that has a prior, by slice sampling. log_p(): log probability of everything else
/// given the concentration's value at the time of the call.
void draw_concentration(SampledConcentration& c, const std::function<double()>& log_p, Stream& stream);

/// Weights β of the K states in use and, last, of all other states together: K + 1 numbers that sum to 1.
using StateWeights = Vec;

/// Prior of the states of all rows, transition probabilities integrated out. The distribution of a sequence's
/// first state is Dirichlet(α_0 β), that of the state after state j is Dirichlet(α β + κ δ_j). β is broken
/// from sticks Beta(1, γ), or is (1/M, ..., 1/M) for at most M states.
struct PathPrior {
  Index most_states = 0;  // M; 0: unbounded, with γ
  SampledConcentration gamma, alpha, start, sticky;

  bool open_ended() const { return most_states == 0; }
  /// Names of the concentrations: "gamma" (if open-ended), "alpha", "start", "sticky"; values() has the same
  /// order.
  std::vector<std::string> names() const;
  Vec values() const;
  void set_values(const Vec& values);

  /// The weights when no state is in use.
  static StateWeights no_states() { return {1}; }
  /// Adds a state just before the last weight; its weight is a part of that of all other states, which must
  /// be above 0.
  void break_weight(StateWeights& weight, Stream& stream) const;
  /// Removes state j, numbering states as TransitionCounts::drop() does; its weight goes to that of all other
  /// states.
  static void return_weight(StateWeights& weight, Index j);

  /// The prior count of a transition, α_jβ_k + κδ_jk, from `row` (0: the start, 1 + j: state j) to state k;
  /// k = K: to all states not in use together.
  double mass(Index row, Index state, const StateWeights& weight) const {
    return concentration(row) * weight[state] + (row == row_after(state) ? sticky.value : 0);
  }
  double mass(Index row) const { return concentration(row) + (row == start_row ? 0 : sticky.value); }
  double concentration(Index row) const { return row == start_row ? start.value : alpha.value; }

  /// log p(partition of the rows into states, weights, learned concentrations): with c_jk = mass() and n_jk
  /// the counts,
  ///   Π_j Γ(c_j) / Γ(c_j + n_j) Π_k Γ(c_jk + n_jk) / Γ(c_jk) · γ^K β_rest^γ,
  /// as a density of log(β_k / β_rest), k ≤ K; with at most M states, M! / (M − K)! replaces the last two
  /// factors. Multiplied by Π dβ / (β_1 ... β_K β_rest) and integrated over β, it is the law of the partition
  /// [Teh et al. 2006; Fox et al. 2011].
  double log_probability(const TransitionCounts& counts, const StateWeights& weight) const;

  /// Draws β, γ and the other learned concentrations, with transition probabilities integrated out: γ given
  /// table counts [Escobar & West 1995], β given both, then α, α_0 and κ given β by slice sampling.
  void draw(const TransitionCounts& counts, StateWeights& weight, Stream& stream);

 private:
  double log_of_rows(const TransitionCounts& counts, const StateWeights& weight) const;
};

}  // namespace bnpvi::chains
