// Who looks on while communities are searched for.
#pragma once
#include <vector>

namespace bnpvi::networks {

class Partition;
class SoftBlocks;
class Overlap;

/// Told of every proposal that a search makes its state; nothing it does changes a bit of the fit. This is the
/// null version, which fits have unless they are tested. Called on the thread of the fit; searches within a
/// proposal have no observer. objective: that of `now` as the search has it.
class Observer {
 public:
  virtual ~Observer() = default;
  /// True when the search is to copy states that it would change in place.
  virtual bool wants_copies() const { return false; }
  virtual void accepted(const std::vector<int>& /*labels before*/, const Partition& /*now*/, double /*objective*/) {}
  virtual void accepted(const SoftBlocks& /*before*/, const SoftBlocks& /*now*/, double /*objective*/) {}
  virtual void accepted(const Overlap& /*before*/, const Overlap& /*now*/, double /*objective*/) {}
};

inline Observer nobody;

}  // namespace bnpvi::networks
