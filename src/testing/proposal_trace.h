// What a fit tried, and what it cost.
#pragma once
#include <ctime>
#include <utility>
#include <vector>

#include "inference/learn/observer.h"

namespace bnpvi::testing {

/// Every trial of every move, in order. Its seconds are the process's CPU time since the fit last told of
/// anything: an accepted state, or the trial before.
class ProposalTrace final : public Observer {
 public:
  struct Row {
    Index lap;  // accepted states before it
    Trial trial;
    double seconds;
  };

  void accepted(const State&) override {
    ++states_;
    since_ = std::clock();
  }
  void tried(const Trial& trial) override {
    const std::clock_t now = std::clock();
    rows.push_back({states_, trial, static_cast<double>(now - std::exchange(since_, now)) / CLOCKS_PER_SEC});
  }

  std::vector<Row> rows;

 private:
  Index states_ = 0;
  std::clock_t since_ = std::clock();
};

}  // namespace bnpvi::testing
