// Named arrays, in which models report their parameters.
#pragma once
#include <string>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// A named array of parameters, column-major, with the dimensions as in R (no dimensions: a vector).
struct NamedArray {
  std::string name;
  Vec value;
  std::vector<Index> dim;
};
using NamedArrays = std::vector<NamedArray>;

}  // namespace bnpvi
