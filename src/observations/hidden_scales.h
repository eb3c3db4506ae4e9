// Interface of models in which every row has an unobserved scale, a factor of its precision.
#pragma once
#include "observations/capabilities.h"
#include "observations/keeps_products.h"

namespace bnpvi {

class HiddenScales {
 public:
  /// Changes the weights w of a cluster with statistic t (the gradient of its log evidence). One visit of all
  /// rows under the changed weights then brings the rows' scales, and the distribution of scales, closer to
  /// where many visits would bring them.
  virtual void hasten(const double* t, double* w) const = 0;

  /// Changes the weights w of a cluster without data so that all rows have scales near 1 under these weights.
  /// Without this change, rows far from the prior's mean would get so small scales that rows from which new
  /// clusters start could not be told apart.
  virtual void as_they_are(double* w) const = 0;

  /// The pattern of missing cells as a KeepsProducts (keeps_products.h), if it belongs to this model and can
  /// keep products with clusters between two calls; otherwise null.
  virtual const KeepsProducts* keeping(const MissingPattern&) const { return nullptr; }

 protected:
  ~HiddenScales() = default;
};

/// The HiddenScales interface of a model; null if its rows have no scales.
inline const HiddenScales* hidden_scales(const ObsModel& obs) { return obs.capabilities().scales; }

inline const KeepsProducts* keeping(const ObsModel& obs, const MissingPattern& pattern) {
  const HiddenScales* scales = hidden_scales(obs);
  return scales ? scales->keeping(pattern) : nullptr;
}

}  // namespace bnpvi
