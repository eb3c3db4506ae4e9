// Conversion of the index of a spool (a file of batches) to and from bytes, and offsets of the arrays of its
// batches.
#pragma once
#include "inference/data/spool.h"

namespace bnpvi {

/// Offsets of the arrays of a batch in a spool (a file of batches), in bytes from the beginning of the batch.
struct SpoolArrays {
  std::int64_t values, row_start, column, rows, groups, starts, weight, classes, back, position, group_value,
      end;

  SpoolArrays(const SpoolIndex& index, const BatchSize& size);
};

/// The bytes at the end of a spool (file of batches), after its batches: the index, its length, its checksum
/// and the mark of the format.
std::string end_of_spool(const SpoolIndex& index);

/// Reads the index of a spool from its n bytes. Throws FileError if they are not a spool, or if the sizes in
/// the index do not match the length of the file. path: for the messages.
SpoolIndex read_end_of_spool(const std::string& path, const char* bytes, std::int64_t n);

}  // namespace bnpvi
