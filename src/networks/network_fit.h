// What fits of networks share: how they are read.
#pragma once
#include <cmath>
#include <vector>

#include "inference/learn/fit.h"
#include "networks/links.h"
#include "networks/owners.h"

namespace bnpvi::networks {

/// A fit that is made at a start and may go on from another state.
class NetworkFit : public Fit {
 public:
  /// The state that write() wrote. Throws std::invalid_argument when it is none of this network.
  virtual void read(Reader& in) = 0;
  double slack() const final { return rounding_of_lap * (1 + std::abs(objective())); }

 private:
  // By how much laps of 400 random networks fell, of up to 120 nodes, with counts up to 1e6 and parameters
  // of priors from 1e-8 to 1e8: 8e-6, with parameters from 1e-4 to 1e4 1e-9. Numbers that broke down fell by
  // 1e-3 or more.
  static constexpr double rounding_of_lap = 1e-5;
};

/// A state that is written, read, and recomputed by tests.
class StoredState {
 public:
  virtual ~StoredState() = default;
  /// All that laps and changes depend on, as it is after a lap or a step.
  virtual void write(Writer& out) const = 0;
  /// What write() wrote, with as many communities as there were. Throws std::invalid_argument when it is none
  /// of this network and model.
  virtual void read(Reader& in) = 0;
  /// Makes all anew that q of links and nodes and the sticks determine: the bound may change by its last
  /// digits.
  virtual void refresh() = 0;
};

/// A list of `size` finite numbers, each at least `least`. Throws std::invalid_argument, with `what` they
/// are, when it is none. What counts something may be `nearly_none`, below 0 by rounding.
Vec read_numbers(Reader& in, Index size, double least, const char* what);
constexpr double nearly_none = -1e-6, any = -HUGE_VAL, above_none = 1e-300;

/// n labels 0 .. K − 1, each of which occurs. Throws std::invalid_argument when they are not that.
std::vector<int> read_labels(Reader& in, Index n);

/// The owners of as many communities, if nodes have known labels; of `labels` each is where its node may be.
/// Throws std::invalid_argument when they are not that.
Owners read_owners(Reader& in, const Links& links, Index k);
Owners read_owners(Reader& in, const Links& links, const std::vector<int>& labels);

}  // namespace bnpvi::networks
