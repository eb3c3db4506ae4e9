#include "r_source.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "foundation/utf8_path.h"
#include "r_hmm.h"
#include "r_testing.h"

namespace bnpvi {

std::unique_ptr<Source> make_source(const std::string& name, const Dataset& data,
                                    std::vector<std::vector<Index>> units, bool grouped, Index lag) {
  if (name == "memory") return std::make_unique<MemorySource>(data, std::move(units));
  if (test_hooks().source) return test_hooks().source(name, data, std::move(units), grouped, lag);
  throw std::invalid_argument("unknown source: " + name);
}

Index most_open(const Source& source) { return test_hooks().most_open ? test_hooks().most_open(source) : 0; }

bool is_update(SEXP start) { return !Rf_isNull(start) && Rcpp::List(start).containsElementNamed("settled"); }

FitData::FitData(const Rcpp::List& data, const Rcpp::List& control, const RModel& model, bool update)
    : model_(model), update_(update) {
  const ListFields c(control);
  if (data.containsElementNamed("spool")) {
    const ListFields d(data);
    spool_path_ = d.text("spool");
    spool_ = std::make_shared<const Spool>(spool_path_);
    const auto starts = Rcpp::as<std::vector<int>>(data["starts"]);
    starts_.assign(starts.begin(), starts.end());
    const SpoolIndex& index = spool_->index();
    require(index.shape.n == d.integer("n") && index.shape.d == d.integer("d") &&
                index.shape.d == model.obs->n_columns() && !starts_.empty() && starts_.front() == 0 &&
                std::is_sorted(starts_.begin(), starts_.end()) && starts_.back() == index.shape.n &&
                static_cast<Index>(starts_.size()) - 1 == index.shape.n_groups &&
                index.grouped() == model.alloc->grouped(),
            "the spool does not have the rows and columns of the data and the model");
    return;
  }
  if (control.containsElementNamed("hired")) {
    const Rcpp::List workers(control["hired"]);
    folder_ = ListFields(workers).text("folder");
  }
  rdata_ = std::make_unique<RData>(data);
  view_ = &rdata_->view_for(*model.obs);
  require_positions(*view_, model);
  uncounted_ = uncounted_units(*view_, model);
  kind_ = control.containsElementNamed("source") ? c.text("source") : "memory";
  n_batches_ = c.text("algorithm") == "full" ? 1 : c.integer("batches");
  if (control.containsElementNamed("batch_of")) {
    batch_of_ = Rcpp::as<std::vector<int>>(control["batch_of"]);
    const Index units = model.alloc->grouped() ? view_->n_groups() : view_->n;
    require(
        static_cast<Index>(batch_of_.size()) == units &&
            std::all_of(batch_of_.begin(), batch_of_.end(), [&](int b) { return 1 <= b && b <= n_batches_; }),
        "control$batch_of has not a number of a batch for each unit");
  }
}

std::vector<std::vector<Index>> FitData::batches(std::uint64_t key) const {
  const std::vector<Index> units = counted_units(*view_, model_);
  const Index n = static_cast<Index>(units.size());
  std::vector<std::vector<Index>> out;
  if (!batch_of_.empty()) {
    out.resize(static_cast<std::size_t>(n_batches_));
    for (Index unit : units) out[batch_of_[unit] - 1].push_back(unit);
    out.erase(std::remove_if(out.begin(), out.end(), [](const auto& batch) { return batch.empty(); }),
              out.end());
  } else {
    out = deal_batches(n, std::clamp<Index>(n_batches_, 1, std::max<Index>(n, 1)), key);
    for (auto& batch : out)
      for (Index& unit : batch) unit = units[unit];
  }
  if (!model_.alloc->grouped())
    for (auto& batch : out) sort_by_missing_cells(*model_.obs, *view_, batch);
  if (update_) out.emplace_back();  // for settle_earlier()
  return out;
}

// Writes the batches dealt with this key as a spool that other processes can read, unless there is one. Of
// two such spools, the one written first is removed.
std::shared_ptr<const Source> FitData::written(std::uint64_t key) const {
  for (const Written& one : written_)
    if (one.key == key) {
      spool_path_ = one.path;
      return one.source;
    }
  const std::vector<std::vector<Index>> units = batches(key);
  const bool grouped = model_.alloc->grouped();
  const Dataset& data = *view_;
  SpoolIndex index;
  index.shape = data;
  index.group_width = data.group_width;
  if (data.class_sets) index.class_sets = *data.class_sets;
  std::vector<int> batch(static_cast<std::size_t>(grouped ? data.n_groups() : data.n), -1);
  for (std::size_t b = 0; b < units.size(); ++b) {
    BatchSize size;
    for (Index unit : units[b]) {
      batch[unit] = static_cast<int>(b);
      const Index from = grouped ? data.starts[unit] : unit, to = grouped ? data.starts[unit + 1] : unit + 1;
      size.rows += to - from;
      if (data.sparse()) size.entries += data.row_start[to] - data.row_start[from];
    }
    if (grouped) size.groups = static_cast<Index>(units[b].size());
    index.size.push_back(size);
  }
  if (written_.size() == 2) {
    std::error_code ignored;
    std::filesystem::remove(utf8_path(written_.front().path), ignored);
    written_.erase(written_.begin());
  }
  spool_path_ = folder_ + "/batches-" + std::to_string(++n_written_) + ".spool";
  SpoolWriter writer(spool_path_, std::move(index));
  writer.add(data, batch.data());
  writer.finish();
  const auto source =
      std::make_shared<SpoolSource>(std::make_shared<const Spool>(spool_path_), data.starts, grouped,
                                    model_.obs.get(), false, data.back, data.position);
  source->hold();
  written_.push_back({key, spool_path_, source});
  return source;
}

std::shared_ptr<const Source> FitData::dealt(std::uint64_t key) const {
  const bool grouped = model_.alloc->grouped();
  if (spool_) return std::make_unique<SpoolSource>(spool_, starts_, grouped, model_.obs.get(), update_);
  if (!folder_.empty()) return written(key);
  return make_source(kind_, *view_, batches(key), grouped, model_.obs->capabilities().lag);
}

}  // namespace bnpvi
