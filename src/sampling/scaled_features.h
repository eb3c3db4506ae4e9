// Features of rows together with their scales, which change while a chain of a sampler runs.
#pragma once
#include "observations/hidden_scales.h"
#include "sampling/row_features.h"

namespace bnpvi {

/// Features φ of n rows of a model with unobserved scales (HiddenScales), for scales that are known for the
/// moment: first 1, later those that are given.
class ScaledFeatures {
 public:
  /// Keeps references. plain: the features of the rows with scales 1.
  ScaledFeatures(const ObsModel& obs, const RowFeatures& plain);

  const RowFeatures& rows() const { return rows_; }  // with the present scales
  Index n_scales() const { return scales_.n_scales(); }
  /// Writes the features of row i with the scales u (n_scales() numbers) to phi (p).
  void find(Index i, const double* u, double* phi) const;
  /// Row i has the scales u (n_scales() numbers) from now on.
  void give(Index i, const double* u);
  void give_all(const double* u);  // n × n_scales()

 private:
  const HiddenScales& scales_;
  const RowFeatures& plain_;
  RowFeatures rows_;
  Vec phi_;
};

}  // namespace bnpvi
