// Models whose rows have unobserved scales (ExpectedCells::all_rows()).
#pragma once
#include "observations/capabilities.h"
#include "observations/keeps_products.h"

namespace bnpvi {

class HiddenScales {
 public:
  /// Changes the weights w of a cluster with statistic t so that a visit of all rows under them brings the
  /// scales and their distribution closer to where many visits under ∇Λ(T) would bring them.
  virtual void hasten(const double* t, double* w) const = 0;

  /// Changes the weights w of a cluster without data so that under them all rows have scales near 1. Under
  /// the prior itself, rows far out would get scales so small that seeds could not be distinguished.
  virtual void as_they_are(double* w) const = 0;

  /// Returns the pattern as a KeepsProducts (keeps_products.h), if it is a pattern of this model that can
  /// keep products between two calls; otherwise null.
  virtual const KeepsProducts* keeping(const MissingPattern&) const { return nullptr; }

 protected:
  ~HiddenScales() = default;
};

/// The model's HiddenScales; null if its rows have no scales.
inline const HiddenScales* hidden_scales(const ObsModel& obs) { return obs.capabilities().scales; }

inline const KeepsProducts* keeping(const ObsModel& obs, const MissingPattern& pattern) {
  const HiddenScales* scales = hidden_scales(obs);
  return scales ? scales->keeping(pattern) : nullptr;
}

}  // namespace bnpvi
