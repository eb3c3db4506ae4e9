#include "chains/model/snapshot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chains/model/hmm.h"

namespace bnpvi::chains {

void SnapshotWatch::visiting(const Batch& batch, const std::shared_ptr<const Weights>&) {
  begin_.clear();
  offset_ = {0};
  weight_.clear();
  for (Index unit : batch.units) {
    begin_.push_back(batch.data.starts[unit]);
    offset_.push_back(offset_.back() + batch.data.starts[unit + 1] - batch.data.starts[unit]);
    weight_.push_back(batch.data.weight_of_group(unit));
  }
  label_.assign(static_cast<std::size_t>(offset_.back()), -1);
  if (!wants_messages_) return;
  messages_.assign(label_.size(), {});
  log_scale_.assign(label_.size(), std::numeric_limits<double>::quiet_NaN());
}

Index SnapshotWatch::unit_of(Index row) const {
  Index unit = std::upper_bound(begin_.begin(), begin_.end(), row) - begin_.begin() - 1;
  while (row - begin_[unit] >= offset_[unit + 1] - offset_[unit]) --unit;  // units without rows
  return unit;
}

void SnapshotWatch::visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock&) {
  std::vector<Mass>& found = found_[chunk];
  for (Index i = 0; i < r.n; ++i) {
    const double* p = r.value.data() + i * r.width;
    const int* state = r.sparse ? r.cluster.data() + i * r.width : nullptr;
    const auto number = [state](Index l) { return state ? state[l] : static_cast<int>(l); };
    const Index best = std::max_element(p, p + r.width) - p;
    const auto inside = [&](Index unit) {
      return rows[i] >= begin_[unit] && rows[i] - begin_[unit] < offset_[unit + 1] - offset_[unit];
    };
    if (found.empty() || !inside(found.back().unit))
      found.push_back({unit_of(rows[i]), Vec(static_cast<std::size_t>(r.k), 0.0)});
    const Index unit = found.back().unit;
    label_[offset_[unit] + rows[i] - begin_[unit]] = number(best);
    for (Index l = 0; l < r.width; ++l) found.back().mass[number(l)] += p[l];
  }
}

void SnapshotWatch::visit_messages(Index row, const double* r, const double* alpha, const double* nu,
                                   double scale) {
  const Index unit = unit_of(row), at = offset_[unit] + row - begin_[unit],
              best = std::max_element(r, r + k_) - r;
  messages_[at] = {r[best], alpha[best], nu[best]};
  log_scale_[at] = std::log(scale);
}

void SnapshotWatch::finish() {
  mass_.assign(weight_.size() * static_cast<std::size_t>(k_), 0.0f);
  for (const auto& chunk : found_)
    for (const Mass& m : chunk)
      for (Index j = 0; j < k_; ++j) mass_[m.unit * k_ + j] += static_cast<float>(m.mass[j]);
  found_.clear();
}

void SnapshotWatch::put_into(Snapshot& all, const Batch& batch) const {
  Index row = 0;
  for (Index i = 0; i < static_cast<Index>(weight_.size()); ++i) {
    const Index unit = batch.units[i], group = batch.group_number(unit);
    for (Index at = batch.data.starts[unit]; at < batch.data.starts[unit + 1]; ++at, ++row) {
      const Index number = batch.row_number(at);
      all.label[number] = label_[row];
      if (!wants_messages_) continue;
      all.messages[number] = messages_[row];
      all.log_scale[number] = log_scale_[row];
    }
    std::copy_n(mass_.begin() + i * k_, k_, all.mass.begin() + group * k_);
    all.weight[group] = weight_[i];
  }
}

void SnapshotWatch::write_task(Writer& out) const {
  out.integer(k_);
  out.flag(wants_messages_);
}

void SnapshotWatch::write_result(Writer& out) const {
  out.list(label_);
  out.list(messages_);
  out.list(log_scale_);
  out.list(mass_);
  out.list(weight_);
}

void SnapshotWatch::read_result(Reader& in, const std::shared_ptr<const Weights>&) {
  label_ = in.list<std::vector<int>>();
  messages_ = in.list<std::vector<EndMessages>>();
  log_scale_ = in.list<Vec>();
  mass_ = in.list<std::vector<float>>();
  weight_ = in.list<Vec>();
}

SeenWork::SeenWork(Index batch, std::shared_ptr<const WorkGlobals> at, Reader& in)
    : BatchWork(batch, std::move(at)), units_(in.list<std::vector<Index>>()) {
  if (in.flag()) memory_ = std::make_shared<const UnitMemory>(UnitMemory::read(in));
}

void SeenWork::run(const Problem& problem, const Batch& data, Pool& pool) {
  const Globals& globals = at->globals;
  found = static_cast<const HmmAlloc&>(problem.alloc)
              .found_before(
                  {data.data, units_, problem.obs, globals, globals.weights, pool, nullptr, memory_.get()});
}

void SeenWork::write_task(Writer& out) const {
  out.list(units_);
  out.flag(memory_ != nullptr);
  if (memory_) memory_->write(out, false);
}

std::unique_ptr<Watch> HmmAlloc::read_watch(const std::string& kind, Reader& in) const {
  if (kind == "snapshot") {
    const Index k = in.integer();
    return std::make_unique<SnapshotWatch>(k, in.flag());
  }
  return WorkReader::read_watch(kind, in);
}

std::unique_ptr<BatchWork> HmmAlloc::read_work(const std::string& kind, Index batch,
                                               std::shared_ptr<const WorkGlobals> at, Reader& in) const {
  if (kind == "seen") return std::make_unique<SeenWork>(batch, std::move(at), in);
  return WorkReader::read_work(kind, batch, std::move(at), in);
}

}  // namespace bnpvi::chains
