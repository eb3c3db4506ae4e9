// Choice of the start of a fit, by name.
#pragma once
#include <string>

#include "inference/learn/learn.h"

namespace bnpvi {

/// The start of a fit that `init` names:
///   "random": rows drawn at random;
///   "bregman": rows drawn far apart, then 10 rounds of k-means;
///   "kmeans": as "bregman", with 100 rounds;
///   "scalable": from all rows in few passes;
///   "blocks": blocks of consecutive rows;
///   "anchor": the allocation model's own method (OwnStart);
///   "best": "anchor" or "bregman", whichever has the higher ELBO after ten laps (passes over all batches).
/// Of 30 pairs of fits with a fixed number of clusters, 29 were in the same order after sixty laps as after
/// ten. k: the number of clusters; if the model's number is fixed, k is raised to that number.
State start_by(const std::string& init, const Problem& problem, Index k, const LearnOptions& options,
               Pool& pool);

}  // namespace bnpvi
