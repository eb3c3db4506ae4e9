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

/// Runs numbered tasks on a fixed number of threads, the calling one among them.
///
/// Which thread runs a task is unspecified, so a task writes only to storage numbered by the task;
/// whoever started the tasks combines that storage in task order. Results then do not depend on the
/// number of threads. Safe after fork(), because no thread outlives the pool.
class Pool {
 public:
  /// As many of n_threads as the system starts, at most most_threads().
  Pool(Index n_threads, Monitor& monitor);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Runs task(0) .. task(n-1) and returns when all are done; rethrows the first exception. Within a task it
  /// runs them one after the other. A thread that wakes when all are taken is not waited for.
  void run(Index n, const std::function<void(Index)>& task);

  /// To be called by long tasks every few milliseconds of work: throws Interrupted when the user asked
  /// to stop. Asks the monitor (at most 20 times a second) only on the calling thread.
  void poll();

  /// After Interrupted, for who ends with what there is: poll() throws again only when the user asks again.
  void go_on() { stop_ = false; }

  /// The number of processors, since further threads only take turns; at least 64, because that number is not
  /// always known, and idle threads cost little (5,000 rows on two processors: 0.12 s with 64, 0.10 s with
  /// two).
  static Index most_threads();

  /// The calling one among them.
  Index n_threads() const { return static_cast<Index>(threads_.size()) + 1; }

  Monitor& monitor() { return monitor_; }

 private:
  void work();
  void take_tasks(const std::function<void(Index)>& task);

  Monitor& monitor_;
  const std::thread::id caller_;
  std::chrono::steady_clock::time_point last_asked_;
  std::atomic<bool> stop_{false};

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(Index)>* task_ = nullptr;  // none when all are taken
  std::atomic<Index> next_{0};
  Index n_tasks_ = 0;
  std::atomic<Index> busy_{0};
  std::atomic<unsigned long> generation_{0};
  bool closing_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

/// f(0) .. f(n − 1) for parts of small tasks (a cluster, some rows of a matrix), on the threads of the pool
/// if there is one: eight or more at a time, in at most 64 tasks. f(i) writes to its own storage.
template <class F>
void for_each_part(Pool* pool, Index n, F f) {
  const Index at_once = std::max<Index>(8, (n + 63) / 64), n_tasks = (n + at_once - 1) / at_once;
  const auto some = [&](Index task) {
    for (Index i = task * at_once; i < std::min(n, (task + 1) * at_once); ++i) f(i);
  };
  if (pool) return pool->run(n_tasks, some);
  for (Index task = 0; task < n_tasks; ++task) some(task);
}

/// f(from, to) for stretches of the numbers 0 .. n − 1, on the threads of the pool if there is one; some
/// vectors of that length fit in the first caches together.
template <class F>
void for_each_stretch(Pool* pool, Index n, F f) {
  constexpr Index most = 4096;
  for_each_part(pool, (n + most - 1) / most, [&](Index i) { f(i * most, std::min(n, (i + 1) * most)); });
}

}  // namespace bnpvi
