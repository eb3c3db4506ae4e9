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
  Vec t;            // k × p statistics, scaled up to the mass of all rows that were passed
  double loss = 0;  // Σ_n mass_n (divergence of row n to its centre), over the rows used
};

/// Clusters rows by k-means with the Bregman divergence of the observation model.
///
/// First, at most k rows are chosen as seeds (initial centres): by Bregman k-means++ [Hughes 2016, Alg. 2.2],
/// or uniformly at random if `spread` is false. In k-means++ the probability of a row is proportional to the
/// smallest of its divergences to the seeds, as in Ackermann & Blömer [2010]. Then k-means with cluster
/// frequencies [Alg. 2.1] makes `rounds` rounds, fewer if no row changes its cluster. Fewer than k clusters
/// are returned if some become empty or fewer than k rows are different.
///
/// mass: weight of each row (nullptr: all 1). fill: see make_seed_rows(). If the features of all rows would
/// take more than 32 MB, a random subset of the rows is used.
///
/// sharpness: how often a row counts when a centre is estimated from it; 1: once. The centre of a seed is
/// estimated from a single row. Under an informative prior, little but the row's position determines this
/// estimate. With sharpness 1, clusters with the same mean and different shapes cannot be told apart then,
/// nor clusters with few counts.
HardClusters bregman_kmeans(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows,
                            const double* mass, Index k, bool spread, Index rounds, Stream& stream,
                            Pool& pool, const double* fill = nullptr, double sharpness = 1);

/// bregman_kmeans() for rows in several batches. The mass of a row is its weight in the data. Only the rows
/// of the random subset that is used are copied.
HardClusters bregman_kmeans(const ObsModel& obs, const Source& source, const RowPlaces& rows, Index k,
                            bool spread, Index rounds, Stream& stream, Pool& pool);

/// bregman_kmeans() for a small sample of rows with these masses. All of them are used.
HardClusters bregman_kmeans(const ObsModel& obs, const Sample& rows, const Vec& mass, Index k, Index rounds,
                            Stream& stream, Pool& pool);

/// Draws a sharpness (how often a row counts in bregman_kmeans()) for one proposal of a split. It is between
/// `least` and `most`, uniform on the log scale. It is random because the best value differs between data
/// sets (inst/design/decisions.md), and because a proposal that failed should not fail in the same way again.
double draw_sharpness(double least, double most, Stream& stream);

/// The sufficient statistics t, as they would be if each of their rows counted `sharpness` times.
Vec sharpened(Vec t, double sharpness);

}  // namespace bnpvi
