// Λ(T) roughly, for choices among many candidates.
#pragma once
#include "observations/obs_model.h"

namespace bnpvi {

/// A model whose Λ(T) takes an integral.
class RoughEvidence {
 public:
  /// Λ(T) to a few hundredths of a nat, in a fraction of the time: for choices of which those that are made
  /// are judged by Λ(T) itself.
  virtual double rough_evidence(const double* t) const = 0;

 protected:
  ~RoughEvidence() = default;
};

/// The same of any model: Λ(T) where the model has nothing quicker.
inline double rough_evidence_of(const ObsModel& obs, const double* t) {
  const auto* rough = dynamic_cast<const RoughEvidence*>(&obs);
  return rough ? rough->rough_evidence(t) : obs.log_evidence(t);
}

}  // namespace bnpvi
