#include "foundation/file_error.h"

#include <cerrno>
#include <system_error>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#endif

namespace bnpvi {

void fail_file(const std::string& path, const std::string& why) {
  throw FileError("\"" + path + "\": " + why);
}

void fail_file_by_system(const std::string& path) {
#ifdef _WIN32
  fail_file(path, std::system_category().message(static_cast<int>(GetLastError())));
#else
  fail_file(path, std::generic_category().message(errno));
#endif
}

}  // namespace bnpvi
