#pragma once
#include <cstddef>
#include <vector>

namespace bnpvi {

using Index = std::ptrdiff_t;
using Vec = std::vector<double>;

}  // namespace bnpvi
