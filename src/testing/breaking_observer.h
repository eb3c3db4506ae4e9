// For tests: simulates a numerical failure in the middle of a lap (a pass over all batches).
#pragma once
#include <stdexcept>

#include "inference/learn/observer.h"

namespace bnpvi::testing {

/// Throws the std::domain_error of a numerical failure once, when the fit accepts state number `at`, counted
/// from 1.
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
