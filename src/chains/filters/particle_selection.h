// Reduces a set of weighted particles to a given size.
#pragma once
#include <vector>

#include "foundation/types.h"

namespace bnpvi::chains {

/// The particles that are kept: their numbers in ascending order, and their new weights.
struct Selection {
  std::vector<Index> kept;
  Vec weight;
};

/// Keeps at most `most` ≥ 1 of the particles with weight above 0 [Fearnhead & Clifford 2003]. weight: ≥ 0,
/// any sum. If no more than `most` have weight, all are kept. Otherwise let c solve
///   Σ_i min(1, w_i / c) = most.
/// Particles with w_i > c are kept with their weight. The other places are filled from the other particles by
/// systematic resampling with one uniform number u; each of these gets weight c. No particle is kept twice,
/// and the expected new weight of each is its old one. Time O(n log n).
Selection select_particles(const Vec& weight, Index most, double u);

}  // namespace bnpvi::chains
