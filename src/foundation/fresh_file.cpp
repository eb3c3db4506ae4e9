#include "foundation/fresh_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "foundation/file_error.h"
#include "foundation/utf8_path.h"

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
extern "C" BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);  // RtlGenRandom() of advapi32
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace bnpvi {

namespace {

namespace fs = std::filesystem;

constexpr char infix[] = ".bnpvi-", hex[] = "0123456789abcdef";
constexpr std::size_t n_digits = 16;

// Fills bytes with random numbers from the operating system.
void randomise(unsigned char* bytes, std::size_t n, const std::string& path) {
#ifdef _WIN32
  if (!SystemFunction036(bytes, static_cast<unsigned long>(n))) fail_file_by_system(path);
#else
  const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (file < 0) fail_file_by_system(path);
  const bool done = read(file, bytes, n) == static_cast<ssize_t>(n);
  close(file);
  if (!done) fail_file(path, "the system has no random numbers");
#endif
}

// The digits come from the system, not from a seed, so that no other process can create a file of that name
// in advance.
std::string random_name(const std::string& path) {
  unsigned char bytes[n_digits / 2];
  randomise(bytes, sizeof bytes, path);
  std::string out = path + infix;
  for (const unsigned char byte : bytes) {
    out += hex[byte / 16];
    out += hex[byte % 16];
  }
  return out;
}

// True for names that random_name() may have given for `name`; both are without a folder.
bool is_random_name(const std::string& candidate, const std::string& name) {
  const std::string start = name + infix;
  return candidate.size() == start.size() + n_digits && candidate.compare(0, start.size(), start) == 0 &&
         candidate.find_first_not_of(hex, start.size()) == std::string::npos;
}

#ifndef _WIN32
// Flushes a folder to the disk, since a rename is durable only when its folder is. Where a file system cannot
// do that, a power cut may lose the newest file, but nothing else.
void folder_to_disk(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const int handle = open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0) return;
  (void)fsync(handle);
  close(handle);
}

bool is_of_this_user(const fs::path& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
}
#else
bool is_of_this_user(const fs::path&) { return true; }  // permission to delete it suffices
#endif

bool is_plain_file(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::regular;
}

// path: a regular file.
bool begins(const fs::path& path, const std::string& with) {
  std::string found(with.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(found.data(), static_cast<std::streamsize>(found.size())) && found == with;
}

}  // namespace

#ifdef _WIN32

FreshFile::FreshFile(std::string path, Readers) : path_(std::move(path)), beside_(random_name(path_)) {
  const HANDLE file = CreateFileW(utf8_path(beside_).c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW,
                                  FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) fail_file_by_system(path_);
  file_ = reinterpret_cast<std::intptr_t>(file);
}

void FreshFile::put(std::int64_t at, const void* bytes, std::int64_t n) {
  const char* from = static_cast<const char*>(bytes);
  while (n > 0) {
    OVERLAPPED place = {};
    place.Offset = static_cast<DWORD>(at);
    place.OffsetHigh = static_cast<DWORD>(at >> 32);
    DWORD done = 0;
    const auto some = static_cast<DWORD>(std::min<std::int64_t>(n, std::int64_t{1} << 30));
    if (!WriteFile(reinterpret_cast<HANDLE>(file_), from, some, &done, &place)) fail_file_by_system(path_);
    at += done, from += done, n -= done;
  }
}

void FreshFile::close_file() {
  if (file_ != -1) CloseHandle(reinterpret_cast<HANDLE>(file_));
  file_ = -1;
}

void FreshFile::place(bool durable) {
  if (durable && !FlushFileBuffers(reinterpret_cast<HANDLE>(file_))) fail_file_by_system(path_);
  close_file();
  if (!MoveFileExW(utf8_path(beside_).c_str(), utf8_path(path_).c_str(), MOVEFILE_REPLACE_EXISTING)) {
    const DWORD error = GetLastError();
    DeleteFileW(utf8_path(beside_).c_str());
    SetLastError(error);
    fail_file_by_system(path_);
  }
}

#else

FreshFile::FreshFile(std::string path, Readers readers)
    : path_(std::move(path)), beside_(random_name(path_)) {
  file_ = open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
               readers == Readers::none ? 0600 : 0666);
  if (file_ < 0) fail_file_by_system(path_);
}

void FreshFile::put(std::int64_t at, const void* bytes, std::int64_t n) {
  const char* from = static_cast<const char*>(bytes);
  while (n > 0) {
    const ssize_t done = pwrite(static_cast<int>(file_), from, static_cast<std::size_t>(n), at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_file_by_system(path_);
    at += done, from += done, n -= done;
  }
}

void FreshFile::close_file() {
  if (file_ >= 0) close(static_cast<int>(file_));
  file_ = -1;
}

void FreshFile::place(bool durable) {
  if (durable && fsync(static_cast<int>(file_)) != 0) fail_file_by_system(path_);
  const int file = static_cast<int>(file_);
  file_ = -1;
  std::error_code error;
  if (close(file) != 0) error = {errno, std::generic_category()};
  if (!error) fs::rename(utf8_path(beside_), utf8_path(path_), error);
  if (error) {
    unlink(beside_.c_str());
    fail_file(path_, error.message());
  }
  if (durable) folder_to_disk(utf8_path(path_));
}

#endif

FreshFile::~FreshFile() {
  if (file_ == -1) return;
  close_file();
  std::error_code ignored;
  fs::remove(utf8_path(beside_), ignored);
}

void remove_left_beside(const std::string& path, const std::string& begins_with) {
  const fs::path at = utf8_path(path);
  std::error_code ignored;
  const fs::path folder = at.has_parent_path() ? at.parent_path() : fs::path(".");
  for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
    const fs::path& found = it->path();
    if (is_random_name(utf8_text(found.filename()), utf8_text(at.filename())) && is_plain_file(found) &&
        is_of_this_user(found) && begins(found, begins_with))
      fs::remove(found, ignored);
    if (ignored) return;
  }
}

void refuse_other_file(const std::string& path, const std::string& begins_with) {
  const fs::path at = utf8_path(path);
  std::error_code error;
  const fs::file_type type = fs::symlink_status(at, error).type();
  if (type == fs::file_type::not_found || type == fs::file_type::none) return;
  if (type != fs::file_type::regular) fail_file(path, "it is there, and no regular file");
  if (!begins(at, begins_with))
    fail_file(path, "there is a file of that name which is none of this package's");
}

}  // namespace bnpvi
