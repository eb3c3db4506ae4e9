// Bregman k-means++ and k-means, from which fits and births start.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "inference/data/row_places.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// Clusters of rows that belong to one cluster each.
struct HardClusters {
  Index k = 0;
  Vec t;            // k × p statistics, scaled up to the mass of all rows of the call
  double loss = 0;  // Σ_n mass_n (divergence of row n to its centre), over the rows used
};

/// Seeds at most k clusters among the rows by Bregman k-means++ [Hughes 2016, Alg. 2.2; the
/// probability is proportional to the smallest divergence, as in Ackermann & Blömer 2010], or uniformly
/// at random when `spread` is false, then improves them by `rounds` rounds of Bregman k-means with
/// cluster frequencies [Alg. 2.1]; stops early when no row changes. Empty clusters are dropped, so fewer
/// than k clusters may be returned; so too when fewer than k rows are different.
///
/// mass: weight of each row (nullptr: all 1). fill: as of make_seed_rows(). Uses a random subset of the rows
/// when the features of all would take more than 32 MB.
///
/// sharpness: how often each row counts when centres are estimated, 1: once. A seed is the estimate from a
/// single row. Under an informative prior it depends on little but the position of the row, so that clusters
/// with the same mean and other shapes, or of few counts, are not distinguished.
HardClusters bregman_kmeans(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows,
                            const double* mass, Index k, bool spread, Index rounds, Stream& stream,
                            Pool& pool, const double* fill = nullptr, double sharpness = 1);

/// The same among rows of several batches, of which only that random subset is copied; the mass of a row is
/// its weight.
HardClusters bregman_kmeans(const ObsModel& obs, const Source& source, const RowPlaces& rows, Index k,
                            bool spread, Index rounds, Stream& stream, Pool& pool);

/// Seeds among all these rows, which are few, of these masses, then rounds of k-means.
HardClusters bregman_kmeans(const ObsModel& obs, const Sample& rows, const Vec& mass, Index k, Index rounds,
                            Stream& stream, Pool& pool);

/// Sharpness of one proposal of a split, between `least` and `most`, uniform on the log scale: which one
/// finds most differs from data to data (inst/design/decisions.md), and failures are less alike.
double draw_sharpness(double least, double most, Stream& stream);

/// Statistics of rows that count so many times.
Vec sharpened(Vec t, double sharpness);

}  // namespace bnpvi
