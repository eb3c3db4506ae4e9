// Pages of mapped files that are not there any more.
#pragma once
#include <cstdint>

namespace bnpvi {

/// While one lives, bytes from .. from + size − 1 of a mapped file read as zeros where the file has been cut
/// short; without it the system ends a process that reads them (SIGBUS). So whoever reads asks afterwards
/// whether the file is what it was (MappedFile::check). Of the first 64 that live at a time; the handler that
/// was there before gets all other signals, and the signal back with the last of these. On Windows mapped
/// files cannot be cut.
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
