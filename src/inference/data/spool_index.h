// The index of a spool as bytes, and where the arrays of its batches are.
#pragma once
#include "inference/data/spool.h"

namespace bnpvi {

[[noreturn]] void fail_spool(const std::string& path, const std::string& why);

/// Where the arrays of a batch begin, counted from its own beginning.
struct SpoolArrays {
  std::int64_t values, row_start, column, rows, groups, starts, weight, classes, back, position, group_value,
      end;

  SpoolArrays(const SpoolIndex& index, const BatchSize& size);
};

/// The bytes that follow the batches.
std::string end_of_spool(const SpoolIndex& index);

/// The index of the spool that these bytes are. Throws FileError where they are none, or sizes do not fit
/// them.
SpoolIndex read_end_of_spool(const std::string& path, const char* bytes, std::int64_t n);

}  // namespace bnpvi
