// Models whose rows have scales, which are never seen (ExpectedCells::all_rows()).
#pragma once
#include "observations/capabilities.h"
#include "observations/keeps_products.h"

namespace bnpvi {

class HiddenScales {
 public:
  /// Changes the weights w of a cluster with statistic t, so that a visit of all rows under them brings the
  /// scales, and what is said of them, closer to where visits under ∇Λ(T) would bring them in many laps.
  virtual void hasten(const double* t, double* w) const = 0;

  /// Changes the weights w of a cluster without data, so that rows have scales of 1 under them. Of the scales
  /// that its prior says far rows would have so small ones that seeds could not be told apart.
  virtual void as_they_are(double* w) const = 0;

  /// A pattern of this model, if it keeps its products; or null.
  virtual const KeepsProducts* keeping(const MissingPattern&) const { return nullptr; }

 protected:
  ~HiddenScales() = default;
};

/// Null where rows have no scales.
inline const HiddenScales* hidden_scales(const ObsModel& obs) { return obs.capabilities().scales; }

inline const KeepsProducts* keeping(const ObsModel& obs, const MissingPattern& pattern) {
  const HiddenScales* scales = hidden_scales(obs);
  return scales ? scales->keeping(pattern) : nullptr;
}

}  // namespace bnpvi
