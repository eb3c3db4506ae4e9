#include "foundation/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "foundation/file_error.h"
#include "foundation/utf8_path.h"

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace bnpvi {

namespace fs = std::filesystem;

#ifdef _WIN32

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const HANDLE file = CreateFileW(utf8_path(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                  nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) fail_file_by_system(path);
  file_ = reinterpret_cast<std::intptr_t>(file);
  known_ = status();
  if (known_.size == 0) return;
  mapping_ = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (mapping_) data_ = static_cast<const char*>(MapViewOfFile(mapping_, FILE_MAP_READ, 0, 0, 0));
  if (data_) return;
  const DWORD error = GetLastError();
  if (mapping_) CloseHandle(mapping_);
  CloseHandle(file);
  SetLastError(error);
  fail_file_by_system(path);
}

MappedFile::~MappedFile() {
  if (data_) UnmapViewOfFile(data_);
  if (mapping_) CloseHandle(mapping_);
  CloseHandle(reinterpret_cast<HANDLE>(file_));
}

MappedFile::Status MappedFile::status() const {
  BY_HANDLE_FILE_INFORMATION info;
  if (!GetFileInformationByHandle(reinterpret_cast<HANDLE>(file_), &info)) fail_file_by_system(path_);
  const auto joined = [](DWORD high, DWORD low) { return (static_cast<std::int64_t>(high) << 32) | low; };
  return {joined(info.nFileSizeHigh, info.nFileSizeLow),
          joined(info.ftLastWriteTime.dwHighDateTime, info.ftLastWriteTime.dwLowDateTime)};
}

void MappedFile::expect(std::int64_t, std::int64_t) const {}

#else

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const fs::path at = utf8_path(path);
  std::error_code error;  // errors are reported by open() below; for a pipe open() would wait for ever
  if (fs::exists(at, error) && !fs::is_regular_file(at, error)) fail_file(path, "it is no regular file");
  const int file = open(at.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail_file_by_system(path);
  file_ = file;
  struct stat info;
  void* data = MAP_FAILED;
  if (fstat(file, &info) == 0 && info.st_size > 0)
    data = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) {
    const int number = errno;
    close(file);
    errno = number;
    if (info.st_size == 0) fail_file(path, "it is empty");
    fail_file_by_system(path);
  }
  data_ = static_cast<const char*>(data);
  known_ = status();
  lost_ = std::make_unique<LostPages>(data_, known_.size);
}

MappedFile::~MappedFile() {
  lost_.reset();
  munmap(const_cast<char*>(data_), static_cast<std::size_t>(known_.size));
  close(static_cast<int>(file_));
}

MappedFile::Status MappedFile::status() const {
  struct stat info;
  if (fstat(static_cast<int>(file_), &info) != 0) fail_file_by_system(path_);
#ifdef __APPLE__
  const auto& changed = info.st_mtimespec;
#else
  const auto& changed = info.st_mtim;
#endif
  return {static_cast<std::int64_t>(info.st_size),
          static_cast<std::int64_t>(changed.tv_sec) * 1000000000 + changed.tv_nsec};
}

void MappedFile::expect(std::int64_t from, std::int64_t bytes) const {
  const std::int64_t page = sysconf(_SC_PAGESIZE), start = from / page * page,
                     end = std::min(from + bytes, known_.size);
  if (end > start)
    madvise(const_cast<char*>(data_) + start, static_cast<std::size_t>(end - start), MADV_WILLNEED);
}

#endif

void MappedFile::check() const {
  const Status now = status();
  if (now.size != known_.size) fail_file(path_, "it was cut short or has grown while it was in use");
  if (now.changed != known_.changed) fail_file(path_, "it was written to while it was in use");
}

}  // namespace bnpvi
