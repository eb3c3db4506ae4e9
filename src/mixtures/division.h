// The clusters that a restricted fit has found, among which the rows of all batches can be divided.
#pragma once
#include <memory>
#include <vector>

#include "mixtures/restricted_step.h"

namespace bnpvi::mixtures {

/// Clusters found from a sample of a target's rows (RestrictedFit). A plain value that needs neither the
/// sample nor the state from which it was found.
class Division {
 public:
  /// problem: with the prior under which the clusters were found.
  Division(Problem problem, RestrictedStep step)
      : problem_(std::move(problem)), step_(std::make_shared<const RestrictedStep>(std::move(step))) {}

  Index k() const { return step_->k; }

  /// Divides the rows of every batch among the k clusters by a restricted local step. shares: unless null,
  /// receives the proportions p_nj (rows × k for each batch).
  std::vector<Redistributed> assign(Pool& pool, const std::vector<MassOnRows>& by_batch,
                                    std::vector<Vec>* shares = nullptr) const;

 private:
  Problem problem_;
  std::shared_ptr<const RestrictedStep> step_;
};

}  // namespace bnpvi::mixtures
