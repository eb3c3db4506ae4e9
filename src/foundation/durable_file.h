// Files that are either complete or not there.
#pragma once
#include <stdexcept>
#include <string>

#include "foundation/fresh_file.h"

namespace bnpvi {

/// A file that cannot be written or read; says which and why.
struct FileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Makes these bytes and a checksum of them the content of the file `path` (UTF-8), by a FreshFile: whenever
/// the process or the machine stops, `path` is what it was before or complete. Throws FileError, and then
/// leaves `path` as it was.
void replace_file(const std::string& path, const std::string& bytes, Readers readers);

/// What replace_file() was given. Throws FileError where the file cannot be read, or does not end with the
/// checksum of the bytes before.
std::string read_checked_file(const std::string& path);

}  // namespace bnpvi
