// The rows around a group of clusters that is fitted anew.
#pragma once
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

/// The rows of a batch around a group of clusters that is fitted anew. Rows are positions in the TouchedRows
/// that the region was found in, ascending.
struct RefitRegion {
  std::vector<Index> own;     // rows on which the group together has a responsibility of at least `least`
  std::vector<Index> others;  // other rows on which the group and the clusters around together have as much
  MassOnRows mass;            // of the group on its own rows
  // Σ −w r log r over these rows and the clusters of the group, less the same of the group as one cluster
  double entropy = 0;
};

/// Finds the region of a group among rows of a batch, in one pass over the responsibilities of those near. k:
/// number of clusters of these rows. around: clusters outside the group. near: the rows on which any of all
/// these clusters has some responsibility, as positions in `rows`, ascending.
RefitRegion region_of(const TouchedRows& rows, const std::vector<Index>& near, Index k, const Target& group,
                      const Target& around, double least);

}  // namespace bnpvi::mixtures
