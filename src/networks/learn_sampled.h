// Stochastic learning of networks: the posterior of the blocks' parameters takes steps, each estimated from a
// sample of nodes.
#pragma once
#include <vector>

#include "inference/learn/restarts.h"
#include "networks/network_fit.h"

namespace bnpvi::networks {

struct SampledOptions : RestartOptions {
  Index batches = 10;
  double delay = 1, power = 0.6;  // the rate of step t is (delay + t)^−power
};

/// A fit of a network by stochastic learning. In each lap the nodes are divided at random into `batches` sets
/// of about equal size, and each set makes one step. The last lap visits all nodes at once, so that the bound
/// is exact. It is lap max_laps, or the lap after a stop.
class SampledFit : public NetworkFit {
 public:
  LapRecord lap(Index n) override;
  bool whole() const override { return whole_; }
  bool still() const override { return false; }
  double units() const override { return 1; }
  bool next_phase(Why why) override;
  void keep() override {}
  void go_back() override {}
  void write(Writer& out) const override { out.number(step_); }
  void read(Reader& in) override;
  bool can_go_on() const override { return !whole_; }

 protected:
  /// n: the number of nodes of the network.
  SampledFit(Index n, const SampledOptions& options, Pool& pool) : n_(n), options_(options), pool_(pool) {}

 private:
  virtual Index k() const = 0;
  virtual void step(const std::vector<int>& nodes, double rate) = 0;
  virtual void end_steps() {}    // called after the steps of a lap
  virtual void visit_all() = 0;  // a lap over all nodes, after which the bound is exact
  void steps(Index lap);

  const Index n_;
  const SampledOptions options_;
  Pool& pool_;
  double step_ = 0;
  bool stopped_ = false, whole_ = false;
};

}  // namespace bnpvi::networks
