// Pages of mapped files that were cut off while the file was mapped.
#pragma once
#include <cstdint>

namespace bnpvi {

/// While such an object lives, bytes from .. from + size − 1 of a mapped file read as zeros if the file has
/// been cut short; without it the system ends a process that reads them (SIGBUS). So readers must check
/// afterwards that the file has not changed (MappedFile::check). At most 64 objects work at a time. The
/// earlier handler of the signal gets all other signals, and is restored with the last object. On Windows
/// mapped files cannot be cut.
class LostPages {
 public:
  LostPages(const char* from, std::int64_t size);
  ~LostPages();
  LostPages(const LostPages&) = delete;
  LostPages& operator=(const LostPages&) = delete;

 private:
  int slot_ = -1;
};

}  // namespace bnpvi
