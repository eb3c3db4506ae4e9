#include "foundation/durable_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "foundation/file_error.h"
#include "foundation/utf8_path.h"

namespace bnpvi {

namespace {

namespace fs = std::filesystem;

// A checksum of the 8-byte words of the bytes and their number, modulo 2^64. It is a bijection of each word,
// so that a change of a single word always changes it; other changes leave it the same with a probability of
// about 2^-64.
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

}  // namespace

void replace_file(const std::string& path, const std::string& bytes, Readers readers) {
  const std::uint64_t sum = checksum(bytes.data(), bytes.size());
  const auto size = static_cast<std::int64_t>(bytes.size());
  FreshFile file(path, readers);
  file.put(0, bytes.data(), size);
  file.put(size, &sum, sizeof sum);
  file.place(true);
}

std::string read_checked_file(const std::string& path) {
  const fs::path at = utf8_path(path);
  std::error_code error;
  if (!fs::is_regular_file(at, error)) fail_file(path, error ? error.message() : "it is no regular file");
  const auto size = fs::file_size(at, error);
  if (error) fail_file(path, error.message());
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::ifstream file(at, std::ios::binary);
  if (!file) fail_file(path, std::generic_category().message(errno));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::uint64_t sum = 0;
  if (!file || bytes.size() < sizeof sum) fail_file(path, "it is cut short or was changed");
  std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
  bytes.resize(bytes.size() - sizeof sum);
  if (sum != checksum(bytes.data(), bytes.size())) fail_file(path, "it is cut short or was changed");
  return bytes;
}

}  // namespace bnpvi
