// For tests: a numerical error in the middle of a lap.
#pragma once
#include <stdexcept>

#include "inference/learn/observer.h"

namespace bnpvi::testing {

/// Throws once the std::domain_error of a numerical failure, when the fit accepts its `at`-th state (from
/// 1).
class BreakingObserver final : public Observer {
 public:
  explicit BreakingObserver(Index at) : left_(at) {}
  void accepted(const State&) override { count(); }
  void replaced(double, double, const std::function<double()>&) override { count(); }

 private:
  void count() {
    if (--left_ == 0) throw std::domain_error("numbers broke down as a test asked for");
  }

  Index left_;
};

}  // namespace bnpvi::testing
