#include "foundation/durable_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#ifdef _WIN32
#include <fcntl.h>
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

bool to_disk(const fs::path& path) {
#ifdef _WIN32
  const int handle = _wopen(path.c_str(), _O_RDWR | _O_BINARY);
  const bool done = handle >= 0 && _commit(handle) == 0;
  return handle >= 0 && _close(handle) == 0 && done;
#else
  const int handle = open(path.c_str(), O_RDONLY);
  const bool done = handle >= 0 && fsync(handle) == 0;
  return handle >= 0 && close(handle) == 0 && done;
#endif
}

// A rename is on the disk when its folder is. Where a file system cannot do that, nothing is lost but the
// newest file in a power cut.
void folder_to_disk([[maybe_unused]] const fs::path& path) {
#ifndef _WIN32
  (void)to_disk(path.has_parent_path() ? path.parent_path() : fs::path("."));
#endif
}

}  // namespace

void replace_file(const std::string& path, const std::string& bytes) {
  const fs::path at = fs::u8path(path), beside = fs::u8path(path + ".new");
  const std::uint64_t sum = checksum(bytes.data(), bytes.size());
  errno = 0;
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.write(reinterpret_cast<const char*>(&sum), sizeof sum);
  file.close();
  std::error_code error;
  if (!file || !to_disk(beside))
    error = {errno != 0 ? errno : EIO, std::generic_category()};
  else
    fs::rename(beside, at, error);
  if (error) {
    std::error_code ignored;
    if (fs::is_regular_file(beside, ignored)) fs::remove(beside, ignored);
    fail(path, error.message());
  }
  folder_to_disk(at);
}

std::string read_checked_file(const std::string& path) {
  const fs::path at = fs::u8path(path);
  std::error_code error;
  const auto size = fs::file_size(at, error);
  if (error) fail(path, error.message());
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::ifstream file(at, std::ios::binary);
  if (!file) fail(path, std::generic_category().message(errno));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::uint64_t sum = 0;
  if (!file || bytes.size() < sizeof sum) fail(path, "it is cut short or was changed");
  std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
  bytes.resize(bytes.size() - sizeof sum);
  if (sum != checksum(bytes.data(), bytes.size())) fail(path, "it is cut short or was changed");
  return bytes;
}

}  // namespace bnpvi
