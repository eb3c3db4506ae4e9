// Whether the calling thread is running a task of a pool.
#pragma once

namespace bnpvi {

/// True within a task that Pool::run() runs on several threads: calls of run() are then no longer divided
/// among threads, and R must not be called.
bool in_pool_task();

}  // namespace bnpvi
