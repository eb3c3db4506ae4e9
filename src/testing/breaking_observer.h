// Numbers that break down in the midst of a lap, for tests.
#pragma once
#include <stdexcept>

#include "inference/learn/observer.h"

namespace bnpvi::testing {

/// Throws, once, what broken numbers do: the `at`th time, from 1, that a fit accepts a state.
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
