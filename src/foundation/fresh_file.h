// New files, written under a temporary name, that replace a file when they are complete.
#pragma once
#include <cstdint>
#include <string>

namespace bnpvi {

/// Who may read a new file, besides its owner. none: no other user; as_usual: the users that the umask of the
/// process allows.
enum class Readers { none, as_usual };

/// A new file with the temporary name `path`.bnpvi-<16 random hex digits>. It is always created and never
/// opened through a link, so that no existing file is written to. The destructor deletes it unless place()
/// has renamed it to `path`. Paths are UTF-8; all functions throw FileError.
class FreshFile {
 public:
  FreshFile(std::string path, Readers readers);
  ~FreshFile();
  FreshFile(const FreshFile&) = delete;
  FreshFile& operator=(const FreshFile&) = delete;

  /// Writes n bytes at position `at` of the file.
  void put(std::int64_t at, const void* bytes, std::int64_t n);
  /// Renames the file to `path`, replacing what was there. durable: the content is flushed to the disk first.
  void place(bool durable);

 private:
  void close_file();

  const std::string path_, beside_;
  std::intptr_t file_ = -1;
};

/// Removes temporary files that a FreshFile for `path` left behind when its process ended. Only regular files
/// of this user are removed, named as FreshFile names them, that begin with the bytes `begins_with`.
void remove_left_beside(const std::string& path, const std::string& begins_with);

/// Throws FileError if `path` exists but is not a regular file (links are refused), or does not begin with
/// the bytes `begins_with`.
void refuse_other_file(const std::string& path, const std::string& begins_with);

}  // namespace bnpvi
