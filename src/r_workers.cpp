// Work on batches in other processes: the side that requests it, and the side that does it.
#include "r_workers.h"

#include <algorithm>
#include <cstring>
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

Rcpp::RawVector raw_of(const std::string& bytes) {
  Rcpp::RawVector out(Rcpp::no_init(static_cast<R_xlen_t>(bytes.size())));
  if (!bytes.empty()) std::memcpy(out.begin(), bytes.data(), bytes.size());
  return out;
}

Reader reader_of(const std::string& bytes) { return Reader(bytes.data(), bytes.size()); }

// The worker's side: what it keeps from one task to the next.
class Desk {
 public:
  Desk(Rcpp::List model, const Sparsity& sparsity, Index threads)
      : model_(std::move(model)), sparsity_(sparsity), pool_(threads, monitor_) {}

  /// Does the work of a message of RWorkers and returns the results, one after the other.
  std::string done(const void* message, std::size_t size) {
    Reader in(message, size);
    pool_.go_on();  // an interrupt ended the earlier message only
    learn(in.text());
    open(in.text());
    Problem problem{*source_, *models_->obs, *models_->alloc, 0, nobody, &pool_};
    std::vector<std::string> globals(static_cast<std::size_t>(in.integer()));
    for (std::string& bytes : globals) bytes = in.text();
    return bytes_of([&](Writer& out) {
      for (auto n = in.integer(); n > 0; --n) {
        const Index batch = in.integer();
        const std::string kind = in.text();
        const auto which = in.integer();
        const auto at =
            which < 0 ? nullptr : at_globals(problem, globals.at(static_cast<std::size_t>(which)));
        const auto work = read_batch_work(*models_->alloc, kind, batch, at, in);
        const double ready = pool_.spent();  // work to get here, which the other process does not repeat
        do_here(problem, pool_, *work);
        work->write_result(out);
        out.number(pool_.spent() - ready);
      }
      if (!in.done()) throw std::invalid_argument("internal error: a message has more than its work");
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

  std::shared_ptr<const WorkGlobals> at_globals(const Problem& problem, const std::string& bytes) {
    if (bytes != at_bytes_) {
      Reader in = reader_of(bytes);
      auto at = std::make_shared<WorkGlobals>(WorkGlobals::read(in));
      at->weigh(problem);
      at_ = std::move(at);
      at_bytes_ = bytes;
    }
    return at_;
  }

  const Rcpp::List model_;
  const Sparsity sparsity_;
  RMonitor monitor_{R_NilValue};
  RPool pool_;
  std::string learned_, path_, at_bytes_;
  std::unique_ptr<RModel> models_;
  std::unique_ptr<SpoolSource> source_;
  std::shared_ptr<const WorkGlobals> at_;
};

}  // namespace

std::unique_ptr<RWorkers> hired_workers(const Rcpp::List& control, const FitData& data) {
  if (!control.containsElementNamed("hired")) return nullptr;
  return std::make_unique<RWorkers>(Rcpp::List(control["hired"]), data);
}

RWorkers::RWorkers(const Rcpp::List& hired, const FitData& data)
    : run_(static_cast<SEXP>(hired["run"])),
      messages_(static_cast<SEXP>(hired["messages"])),
      least_products_(ListFields(hired).number("least_products")),
      data_(data) {}

std::string RWorkers::message(const std::string& learned, const BatchWork* const* work, std::size_t n) const {
  std::vector<const WorkGlobals*> globals;
  const auto number_of = [&](const WorkGlobals* at) -> std::ptrdiff_t {
    if (!at) return -1;
    const auto found = std::find(globals.begin(), globals.end(), at) - globals.begin();
    if (found == static_cast<std::ptrdiff_t>(globals.size())) globals.push_back(at);
    return found;
  };
  for (std::size_t i = 0; i < n; ++i) number_of(work[i]->at.get());
  Writer out;
  out.text(learned);
  out.text(data_.spool_path());
  out.integer(static_cast<std::int64_t>(globals.size()));
  for (const WorkGlobals* at : globals) out.text(bytes_of([&](Writer& to) { at->write(to); }));
  out.integer(static_cast<std::int64_t>(n));
  for (std::size_t i = 0; i < n; ++i) {
    out.integer(work[i]->batch);
    out.text(work[i]->kind());
    out.integer(number_of(work[i]->at.get()));
    work[i]->write_task(out);
  }
  return out.bytes();
}

std::size_t RWorkers::most_messages(std::size_t tasks) const {
  const Rcpp::RObject most = made_in_r([&] { return Rcpp::RObject(messages_()); });
  return static_cast<std::size_t>(std::clamp<double>(Rcpp::as<double>(most), 1, static_cast<double>(tasks)));
}

void RWorkers::run(const Problem& problem, const std::vector<BatchWork*>& work) {
  NamedArrays learned = prior_of(problem.obs).learned_fields();
  for (NamedArray& field : concentrations_of(problem.alloc).learned_fields())
    learned.push_back(std::move(field));
  const std::string fields = bytes_of([&](Writer& out) { write(out, learned); });
  const std::size_t n = most_messages(work.size());
  const auto first = [&](std::size_t i) { return work.size() * i / n; };
  std::vector<std::string> messages;
  for (std::size_t i = 0; i < n; ++i)
    messages.push_back(message(fields, work.data() + first(i), first(i + 1) - first(i)));
  const Rcpp::RObject answer = made_in_r([&] {
    Rcpp::List raw(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) raw[i] = raw_of(messages[i]);
    return Rcpp::RObject(run_(raw));
  });
  if (answer.isNULL()) throw Interrupted();
  const Rcpp::List results(answer);
  require(results.size() == static_cast<R_xlen_t>(n), "workers return as many results as tasks");
  for (std::size_t i = 0; i < n; ++i) {
    const Rcpp::RObject result = results[static_cast<R_xlen_t>(i)];
    if (result.isNULL()) {
      for (std::size_t w = first(i); w < first(i + 1); ++w) do_here(problem, *problem.pool, *work[w]);
      continue;
    }
    const Rcpp::RawVector bytes(result);
    Reader in(bytes.begin(), static_cast<std::size_t>(bytes.size()));
    for (std::size_t w = first(i); w < first(i + 1); ++w) {
      work[w]->read_result(in);
      problem.pool->spend(in.number());
    }
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

// Does the work of a message of RWorkers and returns the results.
// [[Rcpp::export]]
Rcpp::RawVector engine_worker_run(SEXP desk, Rcpp::RawVector message) {
  return entry([&] {
    return raw_of(Rcpp::XPtr<Desk>(desk)->done(message.begin(), static_cast<std::size_t>(message.size())));
  });
}
