#include "features/rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace bnpvi::features {

namespace {

constexpr Index block_rows =
    128;  // rows that are turned from columns at a time: in the first caches, a guess

const double* column_of(const Batch& batch, Index j) { return batch.data.dense + j * batch.data.n; }

}  // namespace

Rows::Rows(std::shared_ptr<const Source> source, ColumnUnits units, const std::vector<int>& parent, bool keep)
    : n(0), d(source->shape().d), source_(std::move(source)), units_(std::move(units)) {
  group_columns(parent);
  for (Index b = 0; keep && b < n_batches(); ++b) kept_.push_back(std::make_shared<const RowBatch>(read(b)));
}

// Groups columns that have the same parent and are missing in the same rows; kinds are refined row by row.
void Rows::group_columns(const std::vector<int>& parent_of) {
  std::vector<int> kind = parent_of;
  std::vector<bool> has_gaps(static_cast<std::size_t>(d));
  for (Index b = 0; b < source_->n_batches(); ++b) {
    const auto batch = source_->open(b);
    batch_rows.push_back(static_cast<Index>(batch->units.size()));
    n += batch_rows.back();
    std::map<std::pair<int, std::vector<bool>>, int> number_of;
    for (Index j = 0; j < d; ++j) {
      const double* x = column_of(*batch, j);
      std::vector<bool> missing;
      for (std::size_t i = 0; i < batch->units.size(); ++i)
        if (std::isnan(x[batch->units[i]])) {
          missing.resize(batch->units.size());
          missing[i] = has_gaps[j] = true;
        }
      kind[j] =
          number_of.emplace(std::make_pair(kind[j], std::move(missing)), static_cast<int>(number_of.size()))
              .first->second;
    }
  }
  std::map<int, int> number_of;
  group_size.push_back(0);
  parent.push_back(0);
  a_column_.push_back(0);
  for (Index j = 0; j < d; ++j) {
    int at = 0;
    if (has_gaps[j] || parent_of[j] > 0) {
      const auto known = number_of.emplace(kind[j], static_cast<int>(group_size.size()));
      at = known.first->second;
      if (known.second) {
        group_size.push_back(0);
        parent.push_back(parent_of[j]);
        a_column_.push_back(j);
        if (has_gaps[j]) gappy_.push_back(at);
      }
    }
    group.push_back(at);
    ++group_size[at];
  }
}

RowBatch Rows::read(Index b) const {
  const auto batch = source_->open(b);
  RowBatch out;
  out.n = static_cast<Index>(batch->units.size());
  out.d = d;
  out.x.resize(static_cast<std::size_t>(out.n * d));
  for (Index unit : batch->units) out.number.push_back(batch->row_number(unit));
  for (Index first = 0; first < out.n; first += block_rows) {
    const Index last = std::min(out.n, first + block_rows);
    for (Index j = 0; j < d; ++j) {
      const double* x = column_of(*batch, j);
      for (Index i = first; i < last; ++i) {
        const double value = x[batch->units[i]];
        out.x[i * d + j] = std::isnan(value)     ? 0
                           : units_.unit.empty() ? value
                                                 : value / units_.unit[j] - units_.centre[j] / units_.unit[j];
      }
    }
  }
  for (Index i = 0; i < out.n; ++i) {
    out.gap_start.push_back(static_cast<Index>(out.gap.size()));
    for (int g : gappy_)
      if (std::isnan(column_of(*batch, a_column_[g])[batch->units[i]])) out.gap.push_back(g);
  }
  out.gap_start.push_back(static_cast<Index>(out.gap.size()));
  return out;
}

std::shared_ptr<const RowBatch> Rows::open(Index b) const {
  return kept_.empty() ? std::make_shared<const RowBatch>(read(b)) : kept_[b];
}

double Rows::cells(const RowBatch& batch, Index i) const {
  double out = static_cast<double>(d);
  for (Index j = 0; j < batch.n_gaps(i); ++j) out -= group_size[batch.gaps(i)[j]];
  return out;
}

SummaryShape summary_shape(const Rows& rows) { return {1, rows.d + 1, rows.n_groups(), n_scalars}; }

}  // namespace bnpvi::features
