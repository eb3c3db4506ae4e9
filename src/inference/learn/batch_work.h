// Work on the data of one batch, in this process or in another one.
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "foundation/archive.h"
#include "inference/learn/state.h"

namespace bnpvi {

/// The globals (parameters' posterior) at which work on batches is done.
struct WorkGlobals {
  Globals globals;  // including the weights for visits
  /// True if the weights come from evaluate_and_weigh(), whose rounding differs from that of
  /// visiting_weights().
  bool weighed = false;
  bool all_rows = false;            // whether the weights are for a visit of all rows (coming_weights.h)
  std::vector<Index> closing = {};  // closing features (registry.h) whose sums visits form, too
  void write(Writer& out) const;    // writes all but globals.weights
  static WorkGlobals read(Reader& in);
  /// Computes the clusters' weights for visits (updates of q(z)), globals.weights, if they are missing.
  void weigh(const Problem& problem);
};

/// Returns these globals with the weights of the clusters. Weights are computed if they are missing. They are
/// also replaced if all_rows is true (the work visits all rows) and they were made for a visit of some rows.
std::shared_ptr<const WorkGlobals> globals_for_work(const Problem& problem, Globals globals,
                                                    bool all_rows = false);

/// Returns these globals with newly computed weights, for the last visit of a fit. That visit is not part of
/// a lap, and forms the sums of the closing features `features`.
std::shared_ptr<const WorkGlobals> globals_for_closing(const Problem& problem, Globals globals,
                                                       std::vector<Index> features);

/// A task on one batch, together with its result. The result depends only on the batch, the models, the
/// globals and the bytes that write_task() writes. run() can be called in this process. It can also be called
/// in another one, on a copy that read_batch_work() makes; then write_result() and read_result() bring the
/// result back. The bits of the result are the same.
class BatchWork {
 public:
  /// globals: the parameters' posterior at which the work is done; null if the work needs none.
  BatchWork(Index batch, std::shared_ptr<const WorkGlobals> globals) : batch(batch), at(std::move(globals)) {}
  virtual ~BatchWork() = default;

  virtual void run(const Problem& problem, const Batch& data, Pool& pool) = 0;
  /// About how many products of numbers run() makes for each number that another process must be sent, or
  /// sends back. Infinity: the work is always worth sending.
  virtual double products_per_number(const Problem&) const { return std::numeric_limits<double>::infinity(); }

  virtual std::string kind() const = 0;  // the name by which read_batch_work() recognises it
  virtual void write_task(Writer& out) const = 0;
  virtual void write_result(Writer& out) const = 0;
  virtual void read_result(Reader& in) = 0;

  const Index batch;
  const std::shared_ptr<const WorkGlobals> at;
};

/// Reads work that write_task() has written. Throws std::invalid_argument for a kind of work that neither all
/// families nor this model know.
std::unique_ptr<BatchWork> read_batch_work(const AllocModel& alloc, const std::string& kind, Index batch,
                                           std::shared_ptr<const WorkGlobals> at, Reader& in);

/// Other processes that can do work on batches.
class Workers {
 public:
  virtual ~Workers() = default;
  virtual void run(const Problem& problem, const std::vector<BatchWork*>& work) = 0;
  /// Work with fewer products for each number sent (BatchWork::products_per_number) is done in this process.
  virtual double least_products() const = 0;
};

/// Does the work on a batch in this process. Throws FileError if the data have changed meanwhile.
void do_here(const Problem& problem, Pool& pool, BatchWork& work);

/// On what the threads of this process work together.
enum class Sharing {
  rows,    // on the rows of one batch after the other
  batches  // on several batches, where there are at least two for each thread: if each has few rows to look
           // at
};

/// Does all the work: what is worth sending by the problem's workers if it has any, the rest in this process.
/// Within a task of the pool all work is done in this process.
void do_work(const Problem& problem, Pool& pool, const std::vector<BatchWork*>& work,
             Sharing sharing = Sharing::rows);

template <class Work>
void do_work(const Problem& problem, Pool& pool, const std::vector<std::unique_ptr<Work>>& work,
             Sharing sharing = Sharing::rows) {
  std::vector<BatchWork*> all;
  for (const auto& w : work) all.push_back(w.get());
  do_work(problem, pool, all, sharing);
}

/// The local step (update of q(z) at fixed parameters) of all units (rows or groups of rows) of a batch, as a
/// task. A watch may observe the responsibilities.
class VisitWork final : public BatchWork {
 public:
  /// memory: what the last visit of the batch stored for the next, or null. watch: may be null. base: whether
  /// Σ log h(x), the sum of the base measure over rows, is computed, too. assignments: receives the explicit
  /// q(z) when the work is done in this process, unless null.
  VisitWork(Index batch, std::shared_ptr<const WorkGlobals> at, Visitor& visitor,
            std::shared_ptr<const UnitMemory> memory, std::unique_ptr<Watch> watch, bool base,
            Assignments* assignments);
  VisitWork(const AllocModel& alloc, Index batch, std::shared_ptr<const WorkGlobals> at, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  double products_per_number(const Problem& problem) const override;
  std::string kind() const override { return "visit"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override;
  void read_result(Reader& in) override;

  Summary found;
  std::unique_ptr<Watch> watch;

 private:
  std::unique_ptr<Visitor> own_;  // the visitor that the task uses, if the task was read from bytes
  Visitor& visitor_;
  std::shared_ptr<const UnitMemory> memory_;
  bool base_;
  Assignments* assignments_ = nullptr;
};

/// The local step (update of q(z) at fixed parameters) of some units (rows or groups of rows) of a batch, by
/// AllocModel::local_step(), as a task.
class UnitsWork final : public BatchWork {
 public:
  UnitsWork(Index batch, std::shared_ptr<const WorkGlobals> at, std::vector<Index> units,
            std::shared_ptr<const UnitMemory> memory, Assignments* assignments);
  UnitsWork(Index batch, std::shared_ptr<const WorkGlobals> at, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  std::string kind() const override { return "units"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override;
  void read_result(Reader& in) override;

  Summary found;

 private:
  std::vector<Index> units_;
  std::shared_ptr<const UnitMemory> memory_;
  Assignments* assignments_ = nullptr;
};

}  // namespace bnpvi
