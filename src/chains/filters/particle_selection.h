// Which of many weighted particles are kept.
#pragma once
#include <vector>

#include "foundation/types.h"

namespace bnpvi::chains {

/// Particles by their numbers, ascending, and their new weights.
struct Selection {
  std::vector<Index> kept;
  Vec weight;
};

/// At most `most` ≥ 1 of the particles whose weights (≥ 0, any sum) are above 0 [Fearnhead & Clifford 2003].
/// Where there are more, c is such that Σ min(1, w_i / c) = most: particles above c stay with their weights,
/// and of the others as many as are lacking are drawn, by systematic resampling from the one uniform u, and
/// get the weight c. No particle is there twice, and the expected new weight of each is its old one. Time
/// O(n log n).
Selection select_particles(const Vec& weight, Index most, double u);

}  // namespace bnpvi::chains
