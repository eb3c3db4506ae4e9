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

/// Keeps at most `most` ≥ 1 of the particles whose weights (≥ 0, any sum) are above 0 [Fearnhead & Clifford
/// 2003]. If there are more, let c solve Σ min(1, w_i / c) = most. Particles with weights above c keep their
/// weights. The other places are filled by systematic resampling of the other particles, with one uniform
/// number u; these get weight c. No particle is kept twice, and the expected new weight of each is its old
/// one. Time O(n log n).
Selection select_particles(const Vec& weight, Index most, double u);

}  // namespace bnpvi::chains
