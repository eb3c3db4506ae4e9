// For tests: records the proposals that a fit tried, and their cost.
#pragma once
#include <ctime>
#include <utility>
#include <vector>

#include "inference/learn/observer.h"
#include "inference/moves/trial.h"

namespace bnpvi::testing {

/// Records every trial of every move, in order. seconds: the CPU time of the process since the trial before,
/// or since the last accepted state if that was later.
class ProposalTrace final : public Observer {
 public:
  struct Row {
    Index states;  // number of states accepted before
    Trial trial;
    double seconds;
  };

  /// spared: whether the fit should also make the proposals that it would normally skip because of its
  /// forecasts.
  explicit ProposalTrace(bool spared) : spared_(spared) {
    trial_listener = [this](const Trial& trial) {
      const std::clock_t now = std::clock();
      rows_.push_back(
          {states_, trial, static_cast<double>(now - std::exchange(since_, now)) / CLOCKS_PER_SEC});
    };
  }
  ~ProposalTrace() override { trial_listener = nullptr; }
  ProposalTrace(const ProposalTrace&) = delete;
  ProposalTrace& operator=(const ProposalTrace&) = delete;

  bool wants_spared_work() const override { return spared_; }
  void accepted(const State&) override {
    ++states_;
    since_ = std::clock();
  }

  const std::vector<Row>& rows() const { return rows_; }

 private:
  const bool spared_;
  std::vector<Row> rows_;
  Index states_ = 0;
  std::clock_t since_ = std::clock();
};

}  // namespace bnpvi::testing
