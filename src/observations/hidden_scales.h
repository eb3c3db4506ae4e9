// Interface of models in which every row has an unobserved scale: a factor of its precision.
#pragma once
#include "observations/capabilities.h"
#include "observations/keeps_products.h"

namespace bnpvi {

class HiddenScales {
 public:
  /// Changes the weights w of a cluster with statistic t (the gradient of its log evidence), to save visits.
  /// One visit of all rows under the changed weights brings the rows' scales, and the distribution of scales,
  /// closer to where many visits would bring them.
  virtual void hasten(const double* t, double* w) const = 0;

  /// Changes the weights w of a cluster without data so that all rows have scales near 1. Without this, rows
  /// far from the prior's mean would get very small scales. Rows from which new clusters start could then not
  /// be told apart.
  virtual void as_they_are(double* w) const = 0;

  virtual Index n_scales() const = 0;  // scales of a row: one for each block of responses that share it
  /// Changes phi, the features of a row with all scales 1 (ObsModel::features()), to those of the row
  /// together with known scales u (n_scales() numbers). Let T be the sum of such features over rows of a
  /// cluster. Then the log evidence Λ(T) is log p(rows, their scales), with parameters and degrees of freedom
  /// integrated out.
  virtual void give_scales(const double* u, double* phi) const = 0;

  /// The pattern of missing cells as a KeepsProducts (keeps_products.h): an object that keeps products with
  /// clusters between two calls. Null if it cannot, or does not belong to this model.
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
