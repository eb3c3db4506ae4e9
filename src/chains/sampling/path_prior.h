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

/// A concentration and, where it is not known, its prior and the range that it stays in.
struct SampledConcentration {
  double value = 1;
  std::optional<GammaPrior> prior = {};
  double least = 1e-50, most = 1e50;

  void set(double x) { value = std::clamp(x, least, most); }
};

/// Draws a concentration that has a prior by slice sampling; log_p: of all else given it, at the value that
/// it has when this is called.
void draw_concentration(SampledConcentration& c, const std::function<double()>& log_p, Stream& stream);

/// β of the K states in use and, last, of all others: K + 1 numbers that sum to 1.
using StateWeights = Vec;

/// Sequences start in state k with probability Dirichlet(α_0 β), and leave state j by Dirichlet(α β + κ δ_j).
/// β is broken from sticks Beta(1, γ), or is (1/M, ..., 1/M).
struct PathPrior {
  Index most_states = 0;  // M; 0: no end, with γ
  SampledConcentration gamma, alpha, start, sticky;

  bool open_ended() const { return most_states == 0; }
  /// "gamma" (if open-ended), "alpha", "start", "sticky", and their values in this order.
  std::vector<std::string> names() const;
  Vec values() const;
  void set_values(const Vec& values);

  /// Without states: all weight is that of others.
  static StateWeights no_states() { return {1}; }
  /// A state more, just before the last weight: its weight is part of that of all others, which is above 0.
  void break_weight(StateWeights& weight, Stream& stream) const;
  /// What is given back when state j is dropped as in TransitionCounts::drop().
  static void return_weight(StateWeights& weight, Index j);

  /// α_jβ_k + κδ_jk, what n_jk is added to; k = K: of all states not in use.
  double mass(Index row, Index state, const StateWeights& weight) const {
    return concentration(row) * weight[state] + (row == row_after(state) ? sticky.value : 0);
  }
  double mass(Index row) const { return concentration(row) + (row == start_row ? 0 : sticky.value); }
  double concentration(Index row) const { return row == start_row ? start.value : alpha.value; }

  /// log p(partition of the rows into states, weights, learned concentrations): with c_jk = mass(),
  ///   Π_j Γ(c_j) / Γ(c_j + n_j) Π_k Γ(c_jk + n_jk) / Γ(c_jk) · γ^K β_rest^γ,
  /// the density of log(β_k / β_rest), k ≤ K; of at most M states M! / (M − K)! in place of the last two.
  /// Times Π dβ / (β_1 ... β_K β_rest), its integral is the law of the partition [Teh et al. 2006; Fox et al.
  /// 2011].
  double log_probability(const TransitionCounts& counts, const StateWeights& weight) const;

  /// Draws β, γ and the other concentrations that are learned, each given all else but what is integrated
  /// out: γ given tables [Escobar & West 1995], β given both, then α, α_0, κ given β by slice sampling.
  void draw(const TransitionCounts& counts, StateWeights& weight, Stream& stream);

 private:
  double log_of_rows(const TransitionCounts& counts, const StateWeights& weight) const;
};

}  // namespace bnpvi::chains
