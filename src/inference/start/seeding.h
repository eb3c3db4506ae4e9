// Bregman k-means++ and k-means, with which fits and births start.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "inference/data/row_places.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// A hard clustering: each row belongs to one cluster.
struct HardClusters {
  Index k = 0;
  Vec t;            // k × p statistics, scaled up to the mass of all rows of the call
  double loss = 0;  // Σ_n mass_n (divergence of row n to its centre), over the rows used
};

/// Chooses at most k seeds among the rows, by Bregman k-means++ [Hughes 2016, Alg. 2.2; the probability is
/// proportional to the smallest divergence, as in Ackermann & Blömer 2010], or uniformly at random when
/// `spread` is false. Then improves the clusters by `rounds` rounds of Bregman k-means with cluster
/// frequencies [Alg. 2.1]; stops early when no row changes its cluster. Empty clusters are dropped, so that
/// fewer than k clusters may be returned; likewise when fewer than k rows are different.
///
/// mass: weight of each row (nullptr: all 1). fill: see make_seed_rows(). A random subset of the rows is used
/// when the features of all rows would take more than 32 MB.
///
/// sharpness: how often each row counts when centres are estimated, 1: once. A seed is the estimate from a
/// single row. Under an informative prior that estimate depends on little but the position of the row, so
/// that with a sharpness of 1 clusters with the same mean and different shapes, or with few counts, are not
/// distinguished.
HardClusters bregman_kmeans(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows,
                            const double* mass, Index k, bool spread, Index rounds, Stream& stream,
                            Pool& pool, const double* fill = nullptr, double sharpness = 1);

/// bregman_kmeans() of rows that lie in several batches; only the random subset that is used is copied. The
/// mass of a row is its weight.
HardClusters bregman_kmeans(const ObsModel& obs, const Source& source, const RowPlaces& rows, Index k,
                            bool spread, Index rounds, Stream& stream, Pool& pool);

/// bregman_kmeans() of a small sample of rows with these masses, all of which are used.
HardClusters bregman_kmeans(const ObsModel& obs, const Sample& rows, const Vec& mass, Index k, Index rounds,
                            Stream& stream, Pool& pool);

/// Draws the sharpness for one proposal of a split, between `least` and `most`, uniform on the log scale. The
/// best value differs from data to data (inst/design/decisions.md), and random values make repeated failures
/// less alike.
double draw_sharpness(double least, double most, Stream& stream);

/// The statistics t of rows, each of which counts `sharpness` times.
Vec sharpened(Vec t, double sharpness);

}  // namespace bnpvi
