// Files that exist only in complete form.
#pragma once
#include <string>

#include "foundation/fresh_file.h"

namespace bnpvi {

/// Replaces the content of the file `path` (UTF-8) by these bytes and their checksum, through a FreshFile.
/// Whenever the process or the machine stops, `path` has either its old content or the complete new content.
/// If it throws FileError, `path` is unchanged.
void replace_file(const std::string& path, const std::string& bytes, Readers readers);

/// Returns the bytes that replace_file() wrote to this file. Throws FileError if the file cannot be read, or
/// does not end with the checksum of these bytes.
std::string read_checked_file(const std::string& path);

}  // namespace bnpvi
