// k-means++ and k-means with Bregman divergences, with which fits and births of clusters start.
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

/// Clusters rows by k-means with the Bregman divergence of the observation model. First chooses at most k
/// rows as seeds (initial centres) by Bregman k-means++ [Hughes 2016, Alg. 2.2; the probability is
/// proportional to the smallest divergence, as in Ackermann & Blömer 2010], or uniformly at random when
/// `spread` is false. Then makes `rounds` rounds of k-means with cluster frequencies [Alg. 2.1], fewer if no
/// row changes its cluster. Fewer than k clusters are returned if some become empty or fewer than k rows are
/// different.
///
/// mass: weight of each row (nullptr: all 1). fill: see make_seed_rows(). A random subset of the rows is used
/// when the features of all rows would take more than 32 MB.
///
/// sharpness: how often a row counts when a centre is estimated from it; 1: once. The centre of a seed is
/// estimated from a single row. Under an informative prior this estimate depends on little but the row's
/// position, so that sharpness 1 does not distinguish clusters with the same mean and different shapes, or
/// with few counts.
HardClusters bregman_kmeans(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows,
                            const double* mass, Index k, bool spread, Index rounds, Stream& stream,
                            Pool& pool, const double* fill = nullptr, double sharpness = 1);

/// Does bregman_kmeans() with rows that lie in several batches. The mass of a row is its weight in the data.
/// Only the rows of the random subset that is used are copied.
HardClusters bregman_kmeans(const ObsModel& obs, const Source& source, const RowPlaces& rows, Index k,
                            bool spread, Index rounds, Stream& stream, Pool& pool);

/// Does bregman_kmeans() with a small sample of rows with these masses; all of them are used.
HardClusters bregman_kmeans(const ObsModel& obs, const Sample& rows, const Vec& mass, Index k, Index rounds,
                            Stream& stream, Pool& pool);

/// Draws a sharpness (how often a row counts in bregman_kmeans()) for one proposal of a split, between
/// `least` and `most`, uniform on the log scale. The best value differs from data to data
/// (inst/design/decisions.md), and random values make it less likely that failures repeat.
double draw_sharpness(double least, double most, Stream& stream);

/// The sufficient statistics t changed as if each of their rows counted `sharpness` times.
Vec sharpened(Vec t, double sharpness);

}  // namespace bnpvi
