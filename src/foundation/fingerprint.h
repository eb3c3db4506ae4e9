// Whether two data sets are the same, without keeping either.
#pragma once
#include <cstdint>

#include "foundation/data.h"

namespace bnpvi {

/// The sum modulo 2^64, over all values that are not 0, of a random number keyed by row, column and the bits
/// of the value (weights of rows are one column more): the same for dense and sparse rows, in any order of
/// computation. Different data of the same size have the same number with a probability of about 2^-64.
///
/// row_number: n numbers that rows go by in place of 0 .. n-1, or nullptr.
std::uint64_t fingerprint(const Dataset& data, const int* row_number);

}  // namespace bnpvi
