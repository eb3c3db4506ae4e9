// Work on batches in other processes: the side that requests it, and the side that does it.
#include "r_workers.h"

#include <stdexcept>

#include "inference/learn/archived.h"

namespace bnpvi {

namespace {

template <class Value>
std::string bytes_of(const Value& write) {
  Writer out;
  write(out);
  return out.bytes();
}

Reader reader_of(const std::string& bytes) { return Reader(bytes.data(), bytes.size()); }

// The worker's side: what it keeps from one task to the next.
class Desk {
 public:
  Desk(Rcpp::List model, const Sparsity& sparsity, Index threads)
      : model_(std::move(model)), sparsity_(sparsity), threads_(threads) {}

  std::string done(const void* task, std::size_t size) {
    Reader in(task, size);
    RMonitor monitor(R_NilValue);
    RPool pool(threads_, monitor);
    learn(in.text());
    open(in.text());
    Problem problem{*source_, *models_->obs, *models_->alloc, 0, nobody, &pool};
    const Index batch = in.integer();
    const std::string kind = in.text();
    const auto at = in.flag() ? globals(problem, in.text()) : nullptr;
    const auto work = read_batch_work(*models_->alloc, kind, batch, at, in);
    if (!in.done()) throw std::invalid_argument("internal error: a task has more than its work");
    const double before = pool.spent();  // work to get here, which the other process does not repeat
    do_here(problem, pool, *work);
    return bytes_of([&](Writer& out) {
      work->write_result(out);
      out.number(pool.spent() - before);
    });
  }

 private:
  void learn(std::string learned) {
    if (models_ && learned == learned_) return;
    Reader in = reader_of(learned);
    models_ = std::make_unique<RModel>(model_, sparsity_, read_arrays(in));
    learned_ = std::move(learned);
    at_bytes_.clear();
  }

  void open(const std::string& path) {
    if (source_ && path == path_) return;
    source_ = std::make_unique<SpoolSource>(std::make_shared<const Spool>(path), std::vector<Index>(),
                                            models_->alloc->grouped(), models_->obs.get(), false);
    path_ = path;
  }

  std::shared_ptr<const WorkGlobals> globals(const Problem& problem, std::string bytes) {
    if (bytes != at_bytes_) {
      Reader in = reader_of(bytes);
      auto at = std::make_shared<WorkGlobals>(WorkGlobals::read(in));
      at->weigh(problem);
      at_ = std::move(at);
      at_bytes_ = std::move(bytes);
    }
    return at_;
  }

  const Rcpp::List model_;
  const Sparsity sparsity_;
  const Index threads_;
  std::string learned_, path_, at_bytes_;
  std::unique_ptr<RModel> models_;
  std::unique_ptr<SpoolSource> source_;
  std::shared_ptr<const WorkGlobals> at_;
};

}  // namespace

std::unique_ptr<RWorkers> hired_workers(const Rcpp::List& control, const FitData& data) {
  if (!control.containsElementNamed("hired")) return nullptr;
  const Rcpp::List given(control["hired"]);
  return std::make_unique<RWorkers>(Rcpp::Function(static_cast<SEXP>(given["run"])), data);
}

void RWorkers::run(const Problem& problem, const std::vector<BatchWork*>& work) {
  NamedArrays learned = prior_of(problem.obs).learned_fields();
  for (NamedArray& field : concentrations_of(problem.alloc).learned_fields())
    learned.push_back(std::move(field));
  const std::string fields = bytes_of([&](Writer& out) { write(out, learned); });
  std::map<const WorkGlobals*, std::string> globals;
  std::vector<std::string> tasks;
  for (const BatchWork* one : work) {
    Writer out;
    out.text(fields);
    out.text(data_.spool_path());
    out.integer(one->batch);
    out.text(one->kind());
    out.flag(one->at != nullptr);
    if (one->at) {
      std::string& bytes = globals[one->at.get()];
      if (bytes.empty()) bytes = bytes_of([&](Writer& at) { one->at->write(at); });
      out.text(bytes);
    }
    one->write_task(out);
    tasks.push_back(out.bytes());
  }
  const Rcpp::RObject answer = made_in_r([&] {
    Rcpp::List raw(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) raw[i] = Rcpp::RawVector(tasks[i].begin(), tasks[i].end());
    return Rcpp::RObject(run_(raw));
  });
  if (answer.isNULL()) throw Interrupted();
  const Rcpp::List results(answer);
  require(results.size() == static_cast<R_xlen_t>(work.size()), "workers return as many results as tasks");
  for (std::size_t i = 0; i < work.size(); ++i) {
    const Rcpp::RObject result(VECTOR_ELT(results, static_cast<R_xlen_t>(i)));
    if (result.isNULL()) {
      do_here(problem, *problem.pool, *work[i]);
      continue;
    }
    const Rcpp::RawVector bytes(result);
    Reader in(bytes.begin(), static_cast<std::size_t>(bytes.size()));
    work[i]->read_result(in);
    problem.pool->spend(in.number());
    require(in.done(), "a result has more than its work");
  }
}

}  // namespace bnpvi

using namespace bnpvi;

// Opens a worker: what a process that works on batches of a fit keeps between tasks.
// [[Rcpp::export]]
SEXP engine_worker_open(Rcpp::List model, int sparsity, int candidates, int threads) {
  return entry([&]() -> SEXP { return Rcpp::XPtr<Desk>(new Desk(model, {sparsity, candidates}, threads)); });
}

// Does a task of RWorkers and returns the result.
// [[Rcpp::export]]
Rcpp::RawVector engine_worker_run(SEXP desk, Rcpp::RawVector task) {
  return entry([&] {
    const std::string bytes =
        Rcpp::XPtr<Desk>(desk)->done(task.begin(), static_cast<std::size_t>(task.size()));
    return Rcpp::RawVector(bytes.begin(), bytes.end());
  });
}
