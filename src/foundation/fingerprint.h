// Fingerprints: numbers by which two data sets can be compared without keeping either.
#pragma once
#include <cstdint>

#include "foundation/data.h"

namespace bnpvi {

/// The fingerprint of a data set: the sum modulo 2^64 of one pseudo-random number for each nonzero value,
/// which depends on the row, the column and the bits of the value. Weights of rows count as one more column.
/// Dense and sparse rows with the same values have the same fingerprint, whatever the order of computation.
/// Different data of the same size have the same fingerprint with a probability of about 2^-64.
///
/// row_number: n numbers to use for the rows instead of 0 .. n − 1, or nullptr.
std::uint64_t fingerprint(const Dataset& data, const int* row_number);

}  // namespace bnpvi
