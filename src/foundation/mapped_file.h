// A file mapped into memory: the system reads it from the disk as it is accessed.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "foundation/lost_pages.h"

namespace bnpvi {

/// The bytes of a file that is mapped into memory, and must not change while it is mapped. They do not count
/// as memory of the process: the system drops them and reads them again as needed.
class MappedFile {
 public:
  /// path: name of the file, UTF-8. Throws FileError if the file cannot be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const char* data() const { return data_; }
  std::int64_t size() const { return known_.size; }

  /// Throws FileError if the size of the file has changed or the file was written to since it was opened. To
  /// be called after reading, too: the missing part of a file that was cut short reads as zeros (LostPages).
  void check() const;

  /// Advises the system that these bytes will be read next, so that it loads them in advance.
  void expect(std::int64_t from, std::int64_t bytes) const;

 private:
  struct Status {
    std::int64_t size = 0, changed = 0;
  };
  Status status() const;

  std::string path_;
  std::intptr_t file_ = -1;
#ifdef _WIN32
  void* mapping_ = nullptr;  // handle of the mapping
#endif
  const char* data_ = nullptr;
  Status known_;
  std::unique_ptr<LostPages> lost_;
};

}  // namespace bnpvi
