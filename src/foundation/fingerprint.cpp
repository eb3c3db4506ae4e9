#include "foundation/fingerprint.h"

#include <cstring>

#include "foundation/random.h"

namespace bnpvi {

namespace {

std::uint64_t number_of(Index row, Index column, double value) {
  if (value == 0) return 0;
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return Stream(bits, Purpose::fingerprint, static_cast<std::uint64_t>(row),
                static_cast<std::uint64_t>(column))
      .next();
}

}  // namespace

std::uint64_t fingerprint(const Dataset& data, const int* row_number) {
  const auto name = [&](Index row) { return row_number ? static_cast<Index>(row_number[row]) : row; };
  std::uint64_t sum = 0;
  for (Index i = 0; data.weight && i < data.n; ++i) sum += number_of(name(i), data.d, data.weight[i]);
  if (data.sparse()) {
    for (Index i = 0; i < data.n; ++i)
      for (Index e = data.row_start[i]; e < data.row_start[i + 1]; ++e)
        sum += number_of(name(i), data.column[e], data.value[e]);
  } else {
    for (Index j = 0; j < data.d; ++j)
      for (Index i = 0; i < data.n; ++i) sum += number_of(name(i), j, data.dense[j * data.n + i]);
  }
  return sum;
}

}  // namespace bnpvi
