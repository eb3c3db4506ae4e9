// Arrays by name, as models show their parameters.
#pragma once
#include <string>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// A named array of parameters with dimensions as in R (column-major; empty dims = a vector).
struct NamedArray {
  std::string name;
  Vec value;
  std::vector<Index> dim;
};
using NamedArrays = std::vector<NamedArray>;

}  // namespace bnpvi
