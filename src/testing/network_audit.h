// Recomputation of what a search for communities accepts, for tests.
#pragma once
#include <algorithm>
#include <cmath>

#include "networks/learn_blocks.h"
#include "networks/learn_overlap.h"

namespace bnpvi::testing {

/// Makes the state before and after every accepted proposal anew from its labels or its q, and compares their
/// objectives.
class NetworkAudit final : public networks::Observer {
 public:
  bool wants_copies() const override { return true; }
  void accepted(const std::vector<int>& before, const networks::Partition& now, double objective) override {
    compare(now.with_labels(before).log_joint(), now.with_labels(now.labels()).log_joint(), objective);
  }
  void accepted(const networks::SoftBlocks& before, const networks::SoftBlocks& now,
                double objective) override {
    compare(before.anew().bound().sum(), now.anew().bound().sum(), objective);
  }
  void accepted(const networks::Overlap& before, const networks::Overlap& now, double objective) override {
    compare(refreshed(before), refreshed(now), objective);
  }

  Index accepted_ones = 0;
  double objective = 0;              // largest deviation of an objective, relative
  double smallest_gain = HUGE_VAL;  // relative to the objective

 private:
  static double refreshed(const networks::Overlap& state) {
    const auto copy = state.copy();
    copy->refresh();
    return copy->bound();
  }
  void compare(double before, double now, double said) {
    ++accepted_ones;
    objective = std::max(objective, std::abs(now - said) / (1 + std::abs(now)));
    smallest_gain = std::min(smallest_gain, (now - before) / (1 + std::abs(now)));
  }
};

}  // namespace bnpvi::testing
