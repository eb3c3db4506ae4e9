#include "foundation/lost_pages.h"

#ifndef _WIN32
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>
#endif

namespace bnpvi {

#ifdef _WIN32

LostPages::LostPages(const char*, std::int64_t) {}
LostPages::~LostPages() = default;

#else

namespace {

struct Range {
  std::atomic<bool> used{false};
  std::atomic<std::uintptr_t> from{0}, end{0};
};

std::array<Range, 64> ranges;
std::mutex mutex;  // of what follows; the handler uses neither
int n_used = 0;
struct sigaction before;
std::atomic<std::uintptr_t> page_size{4096};

// The signal handler: maps pages of zeros from the page that could not be read to the end of its range.
void put_zeros(int, siginfo_t* info, void*) {
  const int error = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Range& range : ranges) {
    const std::uintptr_t from = range.from, end = range.end;
    if (at < from || at >= end) continue;
    const std::uintptr_t page = at / page_size * page_size;
    const void* zeros = mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = error;
    if (zeros != MAP_FAILED) return;
  }
  sigaction(SIGBUS, &before, nullptr);  // the signal is then raised again, for the previous handler
  errno = error;
}

}  // namespace

LostPages::LostPages(const char* from, std::int64_t size) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (std::size_t i = 0; i < ranges.size() && slot_ < 0; ++i)
    if (!ranges[i].used) slot_ = static_cast<int>(i);
  if (slot_ < 0) return;
  Range& range = ranges[static_cast<std::size_t>(slot_)];
  range.used = true;
  range.from = reinterpret_cast<std::uintptr_t>(from);
  range.end = range.from + static_cast<std::uintptr_t>(size);
  if (n_used++ > 0) return;
  page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction now = {};
  now.sa_sigaction = put_zeros;
  now.sa_flags = SA_SIGINFO;
  sigemptyset(&now.sa_mask);
  sigaction(SIGBUS, &now, &before);
}

LostPages::~LostPages() {
  if (slot_ < 0) return;
  const std::lock_guard<std::mutex> lock(mutex);
  Range& range = ranges[static_cast<std::size_t>(slot_)];
  range.end = 0;
  range.from = 0;
  range.used = false;
  if (--n_used == 0) sigaction(SIGBUS, &before, nullptr);
}

#endif

}  // namespace bnpvi
