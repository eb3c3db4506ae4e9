// New files that take the place of a file when they are complete.
#pragma once
#include <cstdint>
#include <string>

namespace bnpvi {

/// Who may read a file that is made, beside its owner.
enum class Readers { none, as_usual };  // as the system's mask has it

/// A file `path`.bnpvi-<16 random hex digits>, made new, never through a link: no file that is there already
/// is written to. It goes with this object unless place() gave it the name `path`. Paths are UTF-8; all throw
/// FileError.
class FreshFile {
 public:
  FreshFile(std::string path, Readers readers);
  ~FreshFile();
  FreshFile(const FreshFile&) = delete;
  FreshFile& operator=(const FreshFile&) = delete;

  void put(std::int64_t at, const void* bytes, std::int64_t n);
  /// Puts the file in the place of `path`; durable: after it was brought to the disk.
  void place(bool durable);

 private:
  void close_file();

  const std::string path_, beside_;
  std::intptr_t file_ = -1;
};

/// Removes what FreshFile left beside `path` when its process ended: regular files of this user with such a
/// name that begin with these bytes.
void remove_left_beside(const std::string& path, const std::string& begins_with);

/// Throws FileError where `path` is there and is no regular file (a link is none), or does not begin with
/// these bytes.
void refuse_other_file(const std::string& path, const std::string& begins_with);

}  // namespace bnpvi
