#include "foundation/durable_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#ifdef _WIN32
#include <io.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace bnpvi {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw FileError("\"" + path + "\": " + why);
}

std::string last_error() { return std::generic_category().message(errno); }

// A polynomial in the 8-byte words of the bytes, with their number, modulo 2^64: a bijection of each word, so
// that a change of any one word is always seen, others but with a probability of about 2^-64.
std::uint64_t checksum(const char* bytes, std::size_t n) {
  std::uint64_t sum = 0x9e3779b97f4a7c15u ^ n;
  for (std::size_t at = 0; at < n; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof word, n - at));
    sum = (sum ^ word) * 0xd6e8feb86659fd93u;
    sum ^= sum >> 32;
  }
  return sum;
}

std::FILE* open_file(const std::string& path, const char* mode) {
#ifdef _WIN32
  return _wfopen(fs::u8path(path).c_str(), mode[0] == 'w' ? L"wb" : L"rb");
#else
  return std::fopen(path.c_str(), mode);
#endif
}

bool to_disk(std::FILE* file) {
#ifdef _WIN32
  return _commit(_fileno(file)) == 0;
#else
  return fsync(fileno(file)) == 0;
#endif
}

// A rename is on the disk when its folder is. Some file systems cannot do that, and nothing is lost then but
// the newest file in a power cut.
void folder_to_disk([[maybe_unused]] const fs::path& path) {
#ifndef _WIN32
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const int handle = open(folder.c_str(), O_RDONLY);
  if (handle < 0) return;
  (void)fsync(handle);
  close(handle);
#endif
}

}  // namespace

void replace_file(const std::string& path, const std::string& bytes) {
  const std::string beside = path + ".new";
  std::FILE* file = open_file(beside, "wb");
  if (!file) fail(beside, last_error());
  const std::uint64_t sum = checksum(bytes.data(), bytes.size());
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
                 std::fwrite(&sum, 1, sizeof sum, file) == sizeof sum && std::fflush(file) == 0 &&
                 to_disk(file);
  std::string why = written ? "" : last_error();
  if (std::fclose(file) != 0 && written) {
    why = last_error();
    written = false;
  }
  std::error_code error;
  if (written) {
    fs::rename(fs::u8path(beside), fs::u8path(path), error);
    if (error) why = error.message();
  }
  if (!why.empty()) {
    fs::remove(fs::u8path(beside), error);
    fail(path, why);
  }
  folder_to_disk(fs::u8path(path));
}

std::string read_checked_file(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(fs::u8path(path), error);
  if (error) fail(path, error.message());
  std::FILE* file = open_file(path, "rb");
  if (!file) fail(path, last_error());
  std::string bytes(static_cast<std::size_t>(size), '\0');
  const std::size_t n = std::fread(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  std::uint64_t sum = 0;
  if (n != bytes.size() || n < sizeof sum) fail(path, "it is cut short or was changed");
  std::memcpy(&sum, bytes.data() + n - sizeof sum, sizeof sum);
  bytes.resize(n - sizeof sum);
  if (sum != checksum(bytes.data(), bytes.size())) fail(path, "it is cut short or was changed");
  return bytes;
}

}  // namespace bnpvi
