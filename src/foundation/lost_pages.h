// Protection against the truncation of a file while it is mapped into memory.
#pragma once
#include <cstdint>

namespace bnpvi {

/// Guard for reading a mapped file. Without it, the system would end a process that reads bytes of a file
/// that was cut short (SIGBUS). While an object of this class exists, missing bytes among from .. from + size
/// − 1 read as zeros instead. So readers must check afterwards that the file has not changed
/// (MappedFile::check).
///
/// At most 64 objects are effective at a time. Other SIGBUS signals are passed to the signal handler that was
/// installed before; it is restored when the last object is destroyed. On Windows mapped files cannot be cut
/// short.
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
