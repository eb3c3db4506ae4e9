#include "foundation/pool.h"

#include <new>
#include <system_error>

#include "foundation/pool_task.h"

namespace bnpvi {

namespace {
thread_local bool runs_task = false;

// Waits actively for at most 60 µs, which is about the cost of sleeping and waking: a lap of 20 ms makes a
// dozen parallel calls with little time between them.
template <class Condition>
void wait_awake(Condition condition) {
  constexpr auto longest_spin = std::chrono::microseconds(60);
  const auto began = std::chrono::steady_clock::now();
  while (!condition() && std::chrono::steady_clock::now() - began < longest_spin) std::this_thread::yield();
}

}  // namespace

Pool::Pool(Index n_threads, Monitor& monitor)
    : monitor_(monitor), caller_(std::this_thread::get_id()), last_asked_(std::chrono::steady_clock::now()) {
  const Index wanted = std::clamp<Index>(n_threads, 1, most_threads());
  threads_.reserve(static_cast<std::size_t>(wanted));
  try {
    while (this->n_threads() < wanted) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // no more threads can be started
  } catch (const std::bad_alloc&) {
  }
}

Index Pool::most_threads() { return std::max<Index>(64, std::thread::hardware_concurrency()); }

Pool::~Pool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& t : threads_) t.join();
}

bool in_pool_task() { return runs_task; }

void Pool::poll() {
  if (std::this_thread::get_id() == caller_ && !stop_) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_asked_ > std::chrono::milliseconds(50)) {
      last_asked_ = now;
      try {
        if (monitor_.interrupted()) stop_ = true;
      } catch (...) {
        stop_ = true;  // for the other threads
        throw;
      }
    }
  }
  if (stop_) throw Interrupted();
}

void Pool::take_tasks(const std::function<void(Index)>& task) {
  for (Index i; (i = next_.fetch_add(1)) < n_tasks_;) {
    runs_task = true;
    try {
      task(i);
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex_);
      // What the monitor throws counts first: other threads then end because of it.
      if (!error_ || std::this_thread::get_id() == caller_) error_ = std::current_exception();
      next_ = n_tasks_;
    }
    runs_task = false;
  }
}

void Pool::work() {
  unsigned long seen = 0;
  for (;;) {
    const std::function<void(Index)>* task;
    wait_awake([&] { return generation_ != seen; });
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || generation_ != seen; });
      if (closing_) return;
      seen = generation_;
      task = task_;
      if (!task) continue;
      ++busy_;
    }
    take_tasks(*task);
    std::lock_guard<std::mutex> lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void Pool::run(Index n, const std::function<void(Index)>& task) {
  if (threads_.empty() || n < 2 || runs_task) {
    for (Index i = 0; i < n; ++i) task(i);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    task_ = &task;
    n_tasks_ = n;
    next_ = 0;
    error_ = nullptr;
    ++generation_;
  }
  wake_.notify_all();
  take_tasks(task);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    task_ = nullptr;
  }
  wait_awake([&] { return busy_ == 0; });
  std::unique_lock<std::mutex> lock(mutex_);
  // The last tasks may be long, so that the user may stop them while this thread waits.
  while (!done_.wait_for(lock, std::chrono::milliseconds(50), [&] { return busy_ == 0; })) {
    if (stop_) continue;
    lock.unlock();
    std::exception_ptr stopped;
    try {
      poll();
    } catch (...) {
      stopped = std::current_exception();
    }
    lock.lock();
    if (stopped) error_ = stopped;
  }
  if (error_) std::rethrow_exception(error_);
}

}  // namespace bnpvi
