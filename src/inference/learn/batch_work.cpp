#include "inference/learn/batch_work.h"

#include "foundation/pool_task.h"
#include "inference/learn/coming_weights.h"
#include "inference/learn/labels_watch.h"
#include "inference/start/scalable_work.h"
#include "observations/feature_block.h"
#include "observations/hidden_scales.h"

#include <utility>

namespace bnpvi {

namespace {

void write_memory(Writer& out, const std::shared_ptr<const UnitMemory>& memory) {
  out.flag(memory != nullptr);
  if (memory) memory->write(out, false);
}

std::shared_ptr<const UnitMemory> read_memory(Reader& in) {
  if (!in.flag()) return nullptr;
  return std::make_shared<const UnitMemory>(UnitMemory::read(in));
}

}  // namespace

void WorkGlobals::write(Writer& out) const {
  globals.effective.write(out, false);
  out.list(globals.u);
  out.list(globals.omega);
  out.flag(weighed);
  out.flag(all_rows);
  out.list(closing);
}

WorkGlobals WorkGlobals::read(Reader& in) {
  WorkGlobals out;
  out.globals.effective = Summary::read(in);
  out.globals.u = in.list<Vec>();
  out.globals.omega = in.list<Vec>();
  out.weighed = in.flag();
  out.all_rows = in.flag();
  out.closing = in.list<std::vector<Index>>();
  return out;
}

void WorkGlobals::weigh(const Problem& problem) {
  if (globals.weights) return;
  const bool with_evidence = weighed || (all_rows && hidden_scales(problem.obs));
  Vec evidence(with_evidence ? static_cast<std::size_t>(globals.effective.k) : 0);
  globals.weights = with_evidence ? coming_weights(problem, globals.effective, evidence.data(), all_rows)
                                  : visiting_weights(problem, globals.effective);
  if (closing.empty()) return;
  auto asking = std::make_shared<Weights>(*globals.weights);
  for (Index j = 0; j < asking->k; ++j)
    for (Index at : closing) asking->w[j * asking->p + at] = 1;
  globals.weights = std::move(asking);
}

std::shared_ptr<const WorkGlobals> globals_for_work(const Problem& problem, Globals globals, bool all_rows) {
  const bool one_batch = problem.source.n_batches() == 1;
  auto out = std::make_shared<WorkGlobals>();
  out->weighed = globals.weights != nullptr;
  out->all_rows = all_rows || one_batch;
  if (all_rows && !one_batch && hidden_scales(problem.obs)) globals.weights = nullptr;
  out->globals = std::move(globals);
  out->weigh(problem);
  return out;
}

std::shared_ptr<const WorkGlobals> globals_for_closing(const Problem& problem, Globals globals,
                                                       std::vector<Index> features) {
  auto out = std::make_shared<WorkGlobals>();
  out->closing = std::move(features);
  globals.weights = nullptr;
  out->globals = std::move(globals);
  out->weigh(problem);
  return out;
}

std::unique_ptr<BatchWork> read_batch_work(const AllocModel& alloc, const std::string& kind, Index batch,
                                           std::shared_ptr<const WorkGlobals> at, Reader& in) {
  if (kind == "visit") return std::make_unique<VisitWork>(alloc, batch, std::move(at), in);
  if (kind == "units") return std::make_unique<UnitsWork>(batch, std::move(at), in);
  if (kind == "draw_rows") return std::make_unique<DrawRowsWork>(batch, in);
  if (kind == "nearest") return std::make_unique<NearestWork>(batch, in);
  return work_reader_of(alloc).read_work(kind, batch, std::move(at), in);
}

void do_here(const Problem& problem, Pool& pool, BatchWork& work) {
  try {
    work.run(problem, *problem.source.open(work.batch), pool);
  } catch (...) {
    problem.source.check();
    throw;
  }
  problem.source.check();
}

void do_work(const Problem& problem, Pool& pool, const std::vector<BatchWork*>& work, Sharing sharing) {
  std::vector<BatchWork*> sent, kept;
  const bool may_send = problem.workers && !in_pool_task();
  for (BatchWork* one : work) {
    const bool worth = may_send && one->products_per_number(problem) >= problem.workers->least_products();
    (worth ? sent : kept).push_back(one);
  }
  const Index n = static_cast<Index>(kept.size());
  const auto one = [&](Index i) { do_here(problem, pool, *kept[i]); };
  if (sharing == Sharing::batches && n >= 2 * pool.n_threads())
    pool.run(n, one);
  else
    for (Index i = 0; i < n; ++i) one(i);
  if (!sent.empty()) problem.workers->run(problem, sent);
}

VisitWork::VisitWork(Index batch, std::shared_ptr<const WorkGlobals> at, Visitor& visitor,
                     std::shared_ptr<const UnitMemory> memory, std::unique_ptr<Watch> watching, bool base,
                     Assignments* assignments)
    : BatchWork(batch, std::move(at)),
      watch(std::move(watching)),
      visitor_(visitor),
      memory_(std::move(memory)),
      base_(base),
      assignments_(assignments) {}

VisitWork::VisitWork(const AllocModel& alloc, Index batch, std::shared_ptr<const WorkGlobals> at, Reader& in)
    : BatchWork(batch, std::move(at)), own_(alloc.visitor()), visitor_(*own_) {
  own_->read(in);
  memory_ = read_memory(in);
  base_ = in.flag();
  if (!in.flag()) return;
  const std::string looks_for = in.text();
  watch = looks_for == "labels" ? std::make_unique<LabelsWatch>()
                                : work_reader_of(alloc).read_watch(looks_for, in);
}

void VisitWork::run(const Problem& problem, const Batch& data, Pool& pool) {
  const Globals& globals = at->globals;
  if (watch) watch->visiting(data, globals.weights);
  AssignmentSink observed(assignments_, data, watch.get());
  ResponsibilitySink* sink = assignments_ ? &observed : static_cast<ResponsibilitySink*>(watch.get());
  found = visitor_.visit(
      {data.data, data.units, problem.obs, globals, globals.weights, pool, sink, memory_.get()});
  if (base_) found.log_base = batch_log_base(problem, data);
  if (watch) watch->finish();
}

// Of each cluster all features are sent there and back.
double VisitWork::products_per_number(const Problem& problem) const {
  const std::shared_ptr<const Batch> batch = problem.source.open(this->batch);
  const Dataset& data = batch->data;
  const Index entries = data.sparse() ? static_cast<Index>(data.row_start[data.n]) : 0;
  return cost_of_rows(problem.obs, data, data.n, entries, 1) / static_cast<double>(problem.obs->n_features());
}

void VisitWork::write_task(Writer& out) const {
  visitor_.write(out);
  write_memory(out, memory_);
  out.flag(base_);
  out.flag(watch != nullptr);
  if (!watch) return;
  out.text(watch->kind());
  watch->write_task(out);
}

void VisitWork::write_result(Writer& out) const {
  found.write(out, false);
  if (watch) watch->write_result(out);
}

void VisitWork::read_result(Reader& in) {
  found = Summary::read(in, at->globals.weights);
  if (watch) watch->read_result(in, at->globals.weights);
}

UnitsWork::UnitsWork(Index batch, std::shared_ptr<const WorkGlobals> at, std::vector<Index> units,
                     std::shared_ptr<const UnitMemory> memory, Assignments* assignments)
    : BatchWork(batch, std::move(at)),
      units_(std::move(units)),
      memory_(std::move(memory)),
      assignments_(assignments) {}

UnitsWork::UnitsWork(Index batch, std::shared_ptr<const WorkGlobals> at, Reader& in)
    : BatchWork(batch, std::move(at)), units_(in.list<std::vector<Index>>()), memory_(read_memory(in)) {}

void UnitsWork::run(const Problem& problem, const Batch& data, Pool& pool) {
  const Globals& globals = at->globals;
  AssignmentSink kept(assignments_, data, nullptr);
  found = problem.alloc.local_step({data.data, units_, problem.obs, globals, globals.weights, pool,
                                    assignments_ ? &kept : nullptr, memory_.get()});
}

void UnitsWork::write_task(Writer& out) const {
  out.list(units_);
  write_memory(out, memory_);
}

void UnitsWork::write_result(Writer& out) const { found.write(out, false); }

void UnitsWork::read_result(Reader& in) { found = Summary::read(in, at->globals.weights); }

}  // namespace bnpvi
