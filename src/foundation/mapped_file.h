// A file as memory, which the system reads from the disk as it is looked at.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "foundation/lost_pages.h"

namespace bnpvi {

/// The bytes of a file, which must not change while it is mapped. They do not count as memory of the process:
/// the system drops and reads them again as needed.
class MappedFile {
 public:
  /// path: UTF-8. Throws FileError where the file cannot be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const char* data() const { return data_; }
  std::int64_t size() const { return known_.size; }

  /// Throws FileError where the file has another size or was written to since it was opened. Ask after
  /// reading, too: what a file that was cut short does not have any more reads as zeros (LostPages).
  void check() const;

  /// Tells the system that these bytes are read next, so that it reads them at once.
  void expect(std::int64_t from, std::int64_t bytes) const;

 private:
  struct Status {
    std::int64_t size = 0, changed = 0;
  };
  Status status() const;

  std::string path_;
  std::intptr_t file_ = -1;
  void* mapping_ = nullptr;  // of Windows
  const char* data_ = nullptr;
  Status known_;
  std::unique_ptr<LostPages> lost_;
};

}  // namespace bnpvi
