// What a fit tried, and what it cost.
#pragma once
#include <ctime>
#include <utility>
#include <vector>

#include "inference/learn/observer.h"
#include "inference/moves/trial.h"

namespace bnpvi::testing {

/// Every trial of every move, in order. Its seconds are the process's CPU time since the fit last accepted a
/// state, or the trial before.
class ProposalTrace final : public Observer {
 public:
  struct Row {
    Index states;  // accepted before it
    Trial trial;
    double seconds;
  };

  ProposalTrace() {
    trial_listener = [this](const Trial& trial) {
      const std::clock_t now = std::clock();
      rows_.push_back(
          {states_, trial, static_cast<double>(now - std::exchange(since_, now)) / CLOCKS_PER_SEC});
    };
  }
  ~ProposalTrace() override { trial_listener = nullptr; }
  ProposalTrace(const ProposalTrace&) = delete;
  ProposalTrace& operator=(const ProposalTrace&) = delete;

  void accepted(const State&) override {
    ++states_;
    since_ = std::clock();
  }

  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
  Index states_ = 0;
  std::clock_t since_ = std::clock();
};

}  // namespace bnpvi::testing
