// The rows that k-means looks at, dense or sparse.
#pragma once
#include <memory>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// A random subset of some rows, as many as max_features doubles hold, with their mass.
class SeedRows {
 public:
  SeedRows(const ObsModel& obs, std::vector<Index> rows, const double* mass, Stream& stream);
  virtual ~SeedRows() = default;

  Index n() const { return static_cast<Index>(rows_.size()); }
  Index p() const { return p_; }
  double mass(Index i) const { return mass_[i]; }
  const Vec& masses() const { return mass_; }
  double scale() const { return scale_; }  // mass of all rows / mass of these

  /// t += weight φ(row i).
  virtual void add(Index i, double weight, double* t) const = 0;

  /// score (n × k) = Φ Wᵀ, W is k × p.
  virtual void scores(Index k, const Vec& w, Vec& score) const = 0;

  /// Divergences of the first `n` rows to row i of them, out has n entries; those that are rounding errors
  /// are 0. look_at(n) comes first.
  virtual void look_at(Index n, Pool& pool) = 0;
  virtual void divergences(Index i, Vec& out) = 0;

 protected:
  const ObsModel& obs_;
  Index p_;
  std::vector<Index> rows_;
  Vec mass_;
  double scale_ = 1;
};

std::unique_ptr<SeedRows> make_seed_rows(const ObsModel& obs, const Dataset& data, std::vector<Index> rows,
                                         const double* mass, Stream& stream);

}  // namespace bnpvi
