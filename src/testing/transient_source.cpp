#include "testing/transient_source.h"

#include <algorithm>
#include <limits>

namespace bnpvi::testing {

namespace {

// Overwrites numbers through volatile, so that the compiler keeps the stores although the memory is freed
// immediately after.
template <class T>
void destroy(std::vector<T>& x, T by) {
  volatile T* const at = x.data();
  for (std::size_t i = 0; i < x.size(); ++i) at[i] = by;
}

}  // namespace

// The vectors must not be resized once `data` points into them.
struct TransientSource::Copy {
  Dataset data;
  Vec dense, value, weight, group_value;
  std::vector<int> row_start{0}, column, classes, back, position;
  std::vector<Index> units, rows, groups;
  Batch batch{data, units, &rows, &groups};

  void add_row(const Dataset& from, Index row) {
    rows.push_back(row);
    if (from.weight) weight.push_back(from.weight[row]);
    if (from.classes) classes.push_back(from.classes[row]);
    if (from.back) back.push_back(from.back[row]);
    if (from.position) position.push_back(from.position[row]);
    if (!from.sparse()) return;
    for (int e = from.row_start[row]; e < from.row_start[row + 1]; ++e) {
      column.push_back(from.column[e]);
      value.push_back(from.value[e]);
    }
    row_start.push_back(static_cast<int>(column.size()));
  }

  void finish(const Dataset& from) {
    data.n = static_cast<Index>(rows.size());
    data.d = from.d;
    data.rows_are_groups = from.rows_are_groups;
    if (from.weight) data.weight = weight.data();
    if (from.classes) data.classes = classes.data();
    data.class_sets = from.class_sets;
    if (from.group_value) {
      data.group_width = from.group_width;
      for (Index g : groups)
        group_value.insert(group_value.end(), from.value_of_group(g),
                           from.value_of_group(g) + from.group_width);
      data.group_value = group_value.data();
    }
    if (from.back) data.back = back.data();
    if (from.position) data.position = position.data();
    if (from.sparse()) {
      data.row_start = row_start.data();
      data.column = column.data();
      data.value = value.data();
      return;
    }
    dense.reserve(static_cast<std::size_t>(data.n * data.d +
                                           1));  // so that data() is not null for dense data without rows
    for (Index j = 0; j < data.d; ++j)
      for (Index row : rows) dense.push_back(from.dense[j * from.n + row]);
    data.dense = dense.data();
  }

  ~Copy() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    destroy(dense, nan);
    destroy(value, nan);
    destroy(weight, nan);
    destroy(group_value, nan);
    destroy(row_start, -1);
    destroy(column, -1);
    destroy(classes, -1);
    destroy(back, -1);
    destroy(position, -1);
    for (std::vector<Index>* x : {&units, &rows, &groups, &data.starts}) destroy(*x, Index{-1});
  }
};

TransientSource::TransientSource(const Dataset& data, std::vector<std::vector<Index>> units, bool grouped,
                                 Index lag)
    : data_(data), units_(std::move(units)), grouped_(grouped), lag_(lag), holders_(units_.size(), 0) {}

void TransientSource::count(Index b, Index holders) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  holders_[b] += holders;
  const auto open = std::count_if(holders_.begin(), holders_.end(), [](Index n) { return n > 0; });
  most_open_ = std::max(most_open_, static_cast<Index>(open));
}

std::shared_ptr<const Batch> TransientSource::open(Index b) const {
  count(b, 1);
  std::shared_ptr<Copy> copy(new Copy, [this, b](Copy* gone) {
    delete gone;
    count(b, -1);
  });
  std::vector<Index>& starts = copy->data.starts;
  const auto begin_group = [&](Index group) {
    starts.push_back(static_cast<Index>(copy->rows.size()));
    copy->groups.push_back(group);
  };
  for (Index unit : units_[b]) {
    if (grouped_) {
      copy->units.push_back(static_cast<Index>(copy->groups.size()));
      begin_group(unit);
      for (Index row = data_.starts[unit]; row < data_.starts[unit + 1]; ++row) copy->add_row(data_, row);
      continue;
    }
    const Index group =
        std::upper_bound(data_.starts.begin(), data_.starts.end(), unit) - data_.starts.begin() - 1;
    if (copy->groups.empty() || copy->groups.back() != group) begin_group(group);
    const Index known = copy->rows.empty() ? 0 : copy->rows.back() + 1;
    for (Index row = std::max(unit - lag_, known); row <= unit; ++row) copy->add_row(data_, row);
    copy->units.push_back(static_cast<Index>(copy->rows.size()) - 1);
  }
  starts.push_back(static_cast<Index>(copy->rows.size()));
  copy->finish(data_);
  return {copy, &copy->batch};
}

}  // namespace bnpvi::testing
