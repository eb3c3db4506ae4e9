// The rows used by k-means, dense or sparse.
#pragma once
#include <memory>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// A random subset of n rows: as many as have 2^22 features together, but at least 64.
struct Subsample {
  std::vector<Index> position;  // positions of the chosen rows, 0 .. n − 1
  Vec mass;
  double scale = 1;  // mass of all rows / mass of the subset
};

/// Draws a subsample of n rows. mass: the mass of each row; nullptr: all 1.
Subsample choose_subsample(const ObsModel& obs, Index n, const double* mass, Stream& stream);

/// The subset of all rows, with these masses.
Subsample all_of(Vec mass);

/// The rows of a subsample, in the form that k-means needs: with their masses and their features φ.
class SeedRows {
 public:
  SeedRows(const ObsModel& obs, std::vector<Index> rows, const Subsample& chosen);
  virtual ~SeedRows() = default;

  Index n() const { return static_cast<Index>(rows_.size()); }
  Index p() const { return p_; }
  double mass(Index i) const { return mass_[i]; }
  const Vec& masses() const { return mass_; }
  double scale() const { return scale_; }  // mass of all rows / mass of these rows

  /// Adds weight × φ(row i), p numbers, to t.
  virtual void add(Index i, double weight, double* t) const = 0;

  /// score (n × k) = Φ Wᵀ, with Φ the features of all rows (n × p) and W the weights of k clusters (k × p).
  virtual void scores(Index k, const Vec& w, Vec& score) const = 0;

  /// Prepares divergences() among the first n rows.
  virtual void look_at(Index n, Pool& pool) = 0;
  /// out_l = divergence of row l to row i, for the n rows of the last look_at(n); values within rounding
  /// error of 0 are set to 0.
  virtual void divergences(Index i, Vec& out) = 0;

  /// Prepares divergences_to() these rows as centres.
  virtual void become_centres(Pool& pool) = 0;
  /// out (n × centres.n()) = the divergences of the n rows of the last look_at(n) to the rows in `centres`,
  /// for which become_centres() was called. `centres` must come from make_seed_rows() for the same model and
  /// kind of data.
  virtual void divergences_to(const SeedRows& centres, Vec& out) = 0;

 protected:
  const ObsModel& obs_;
  Index p_;
  std::vector<Index> rows_;
  Vec mass_;
  double scale_;
};

/// rows: the rows of the subsample, in its order. fill: weights (p numbers) of the cluster to which the rows
/// belong, under which missing cells are replaced by expectations; null: those of a cluster without data.
/// sharpness: how often a row counts when a centre is estimated from it (bregman_kmeans()).
std::unique_ptr<SeedRows> make_seed_rows(const ObsModel& obs, const Dataset& data, std::vector<Index> rows,
                                         const Subsample& chosen, const double* fill = nullptr,
                                         double sharpness = 1);

}  // namespace bnpvi
