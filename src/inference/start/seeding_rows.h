// The features of the rows on which k-means works, dense or sparse.
#pragma once
#include <memory>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// A random subset of n rows.
struct Subsample {
  std::vector<Index> position;  // positions of the chosen rows, 0 .. n − 1
  Vec mass;
  double scale = 1;  // mass of all rows / mass of the subset
};

/// Draws a random subset of n rows for k clusters: as many rows as have 2^22 features together, but at least
/// 64; for one cluster at most 4,096, as the first lap finds it exactly, unless rows hide something (cells,
/// scales). mass: the mass of each row; nullptr: all 1.
Subsample choose_subsample(const ObsModel& obs, Index n, const double* mass, Index k, Stream& stream);

/// A subset that consists of all rows, with these masses.
Subsample all_of(Vec mass);

/// The features φ and masses of a subset of rows, in the form that k-means needs.
class SeedRows {
 public:
  SeedRows(const ObsModel& obs, std::vector<Index> rows, const Subsample& chosen);
  virtual ~SeedRows() = default;

  Index n() const { return static_cast<Index>(rows_.size()); }
  Index p() const { return p_; }
  double mass(Index i) const { return mass_[i]; }
  const Vec& masses() const { return mass_; }
  double scale() const { return scale_; }  // mass of all rows / mass of these rows

  /// t += weight × φ(x_i), the features of row i; p numbers.
  virtual void add(Index i, double weight, double* t) const = 0;

  /// Computes score = Φ Wᵀ (n × k), where Φ (n × p) has the features of all rows, and w (k × p) the weights
  /// of k clusters.
  virtual void scores(Index k, const Vec& w, Vec& score) const = 0;

  /// Prepares calls of divergences() that compare the first n rows with each other.
  virtual void look_at(Index n, Pool& pool) = 0;
  /// out[l] = divergence of row l from row i, for the n rows that look_at(n) prepared; values within rounding
  /// error of 0 are set to 0.
  virtual void divergences(Index i, Vec& out) = 0;

  /// Prepares these rows as centres, for calls of divergences_to() of other rows.
  virtual void become_centres(Pool& pool) = 0;
  /// out = the divergences of the n rows that look_at(n) prepared from the rows in `centres`, n ×
  /// centres.n(). become_centres() must have been called for `centres`, which must come from make_seed_rows()
  /// for the same model and kind of data.
  virtual void divergences_to(const SeedRows& centres, Vec& out) = 0;

 protected:
  const ObsModel& obs_;
  Index p_;
  std::vector<Index> rows_;
  Vec mass_;
  double scale_;
};

/// Loads the features of a subset of rows.
///   rows: their numbers, in the order of `chosen`.
///   fill: the weights (p numbers) of the cluster to which the rows belong; missing cells are replaced by
///     their expectations under it. Null: by those under a cluster without data.
///   sharpness: how often a row counts when a centre is estimated from it (bregman_kmeans()).
std::unique_ptr<SeedRows> make_seed_rows(const ObsModel& obs, const Dataset& data, std::vector<Index> rows,
                                         const Subsample& chosen, const double* fill = nullptr,
                                         double sharpness = 1);

}  // namespace bnpvi
