// What fits of networks share: how they are read.
#pragma once
#include <string>
#include <vector>

#include "inference/fit.h"

namespace bnpvi::networks {

/// A fit that is made at a start and may go on from another state.
class NetworkFit : public Fit {
 public:
  /// The state that write() wrote. Throws std::invalid_argument when it is none of this network.
  virtual void read(Reader& in) = 0;
};

/// A list of as many numbers as that. Throws std::invalid_argument, with what it is, when there are not.
Vec read_numbers(Reader& in, std::size_t size, const char* what);

/// n labels 0 .. K − 1, each of which occurs. Throws std::invalid_argument when they are not that.
std::vector<int> read_labels(Reader& in, Index n);

}  // namespace bnpvi::networks
