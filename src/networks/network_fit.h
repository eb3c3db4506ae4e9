// What fits of networks share: how they are read.
#pragma once
#include <cmath>
#include <vector>

#include "inference/fit.h"

namespace bnpvi::networks {

/// A fit that is made at a start and may go on from another state.
class NetworkFit : public Fit {
 public:
  /// The state that write() wrote. Throws std::invalid_argument when it is none of this network.
  virtual void read(Reader& in) = 0;
};

/// A list of `size` finite numbers, each at least `least`. Throws std::invalid_argument, with `what` they
/// are, when it is none. What counts something may be `nearly_none`, below 0 by rounding.
Vec read_numbers(Reader& in, Index size, double least, const char* what);
constexpr double nearly_none = -1e-6, any = -HUGE_VAL, above_none = 1e-300;

/// n labels 0 .. K − 1, each of which occurs. Throws std::invalid_argument when they are not that.
std::vector<int> read_labels(Reader& in, Index n);

}  // namespace bnpvi::networks
