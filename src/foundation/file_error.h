// Errors of files.
#pragma once
#include <stdexcept>
#include <string>

namespace bnpvi {

/// Error for a file that cannot be written or read; the message names the file and the reason.
struct FileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws FileError for this file, for the reason `why`.
[[noreturn]] void fail_file(const std::string& path, const std::string& why);

/// Throws FileError for this file, for the reason of the operating system's last error.
[[noreturn]] void fail_file_by_system(const std::string& path);

}  // namespace bnpvi
