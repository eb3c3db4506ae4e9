// A thread pool that belongs to one fit.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "foundation/monitor.h"
#include "foundation/types.h"

namespace bnpvi {

/// A pool of threads, among them the calling one, that runs numbered tasks.
///
/// Any thread may run any task. So a task writes only to storage that belongs to its number, and the caller
/// combines these results in the order of the tasks: they then do not depend on the number of threads. A
/// fork() between fits is safe, because no thread outlives its pool.
class Pool {
 public:
  /// Starts n_threads − 1 threads, or fewer if the system refuses. n_threads is capped at most_threads().
  Pool(Index n_threads, Monitor& monitor);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Runs task(0) .. task(n − 1) and returns when all are done. Rethrows the first exception. If it is called
  /// from within a task, it runs the tasks one after the other. It does not wait for threads that have not
  /// woken up by the time all tasks are done.
  void run(Index n, const std::function<void(Index)>& task);

  /// Throws Interrupted if the user has requested a stop. Long tasks must call it every few milliseconds.
  /// Only the thread that made the pool queries the monitor, at most 20 times a second (a guess).
  void poll();

  /// Continues after Interrupted, for callers that finish with what has been computed. From now on poll()
  /// throws only if the user requests another stop.
  void go_on() { stop_ = false; }

  /// Adds to the count of the fit's work in visits and proposals. products: the number of multiplications,
  /// roughly rows × clusters × features. Unlike time, this count is the same on every machine and for any
  /// number of threads.
  void spend(double products) { spent_ += static_cast<long long>(products); }
  double spent() const { return static_cast<double>(spent_); }

  /// The largest useful number of threads: the number of processors, since more threads would only take
  /// turns, but at least 64. The number of processors is not always known, and idle threads cost little (a
  /// fit to 5,000 rows on two processors: 0.12 s with 64 threads, 0.10 s with two).
  static Index most_threads();

  /// The number of threads that run tasks, the calling one included.
  Index n_threads() const { return static_cast<Index>(threads_.size()) + 1; }

  Monitor& monitor() { return monitor_; }

 private:
  void work();
  void take_tasks(const std::function<void(Index)>& task);

  Monitor& monitor_;
  const std::thread::id caller_;
  std::chrono::steady_clock::time_point last_asked_;
  std::atomic<bool> stop_{false};
  std::atomic<long long> spent_{0};

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(Index)>* task_ = nullptr;  // null once every task has been taken by a thread
  std::atomic<Index> next_{0};
  Index n_tasks_ = 0;
  std::atomic<Index> busy_{0};
  std::atomic<unsigned long> generation_{0};
  bool closing_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

/// Calls f(0) .. f(n − 1), each a small piece of work (one cluster, some rows of a matrix) that writes to
/// storage of its own. The calls run on the threads of the pool, if there is one, in at most 64 tasks of
/// eight or more calls each (both numbers are guesses).
template <class F>
void for_each_part(Pool* pool, Index n, F f) {
  const Index at_once = std::max<Index>(8, (n + 63) / 64), n_tasks = (n + at_once - 1) / at_once;
  const auto some = [&](Index task) {
    for (Index i = task * at_once; i < std::min(n, (task + 1) * at_once); ++i) f(i);
  };
  if (pool) return pool->run(n_tasks, some);
  for (Index task = 0; task < n_tasks; ++task) some(task);
}

/// Calls f(0) .. f(n − 1), each one task of the pool, until one of them returns true. Returns the smallest
/// number i for which f(i) is true; n: none. All calls before number i are made. Of those after it, only
/// calls that begin before f(i) has returned are made.
template <class F>
Index first_success(Pool& pool, Index n, F f) {
  std::atomic<Index> first{n};
  pool.run(n, [&](Index i) {
    if (i > first || !f(i)) return;
    Index now = first;
    while (i < now && !first.compare_exchange_weak(now, i)) {
    }
  });
  return first;
}

/// Calls f(from, to) for consecutive ranges that together cover 0 .. n − 1, on the threads of the pool if
/// there is one. A range has at most 4,096 elements, so that a few vectors of that length (32 kB each) fit
/// into the first-level caches.
template <class F>
void for_each_stretch(Pool* pool, Index n, F f) {
  constexpr Index most = 4096;
  for_each_part(pool, (n + most - 1) / most, [&](Index i) { f(i * most, std::min(n, (i + 1) * most)); });
}

}  // namespace bnpvi
