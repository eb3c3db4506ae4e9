#include "features/rows.h"

#include <cmath>
#include <map>
#include <utility>

namespace bnpvi::features {

double Rows::cells(Index i) const {
  double out = static_cast<double>(d);
  for (Index j = 0; j < n_gaps(i); ++j) out -= group_size[gaps(i)[j]];
  return out;
}

Rows make_rows(const double* x, Index n, Index d, const std::vector<std::vector<Index>>& batches,
               const std::vector<int>& parent) {
  Rows out;
  out.d = d;
  out.batch_start.push_back(0);
  for (const auto& batch : batches) {
    out.number.insert(out.number.end(), batch.begin(), batch.end());
    out.batch_start.push_back(static_cast<Index>(out.number.size()));
  }
  out.n = static_cast<Index>(out.number.size());
  out.x.resize(static_cast<std::size_t>(out.n * d));

  std::map<std::pair<int, std::vector<bool>>, int> number_of;
  number_of[{0, {}}] = 0;
  out.group_size.push_back(0);
  out.parent.push_back(0);
  std::vector<std::vector<bool>> pattern(1);
  for (Index j = 0; j < d; ++j) {
    std::vector<bool> missing(static_cast<std::size_t>(out.n));
    bool any = false;
    for (Index i = 0; i < out.n; ++i) {
      const double value = x[j * n + out.number[i]];
      missing[i] = std::isnan(value);
      any = any || missing[i];
      out.x[i * d + j] = missing[i] ? 0 : value;
    }
    if (!any) missing.clear();
    const auto at = number_of.emplace(std::make_pair(parent[j], missing), static_cast<int>(number_of.size()));
    if (at.second) {
      out.group_size.push_back(0);
      out.parent.push_back(parent[j]);
      pattern.push_back(missing);
    }
    out.group.push_back(at.first->second);
    ++out.group_size[at.first->second];
  }
  for (Index i = 0; i < out.n; ++i) {
    out.gap_start.push_back(static_cast<Index>(out.gap.size()));
    for (std::size_t g = 1; g < pattern.size(); ++g)
      if (!pattern[g].empty() && pattern[g][i]) out.gap.push_back(static_cast<int>(g));
  }
  out.gap_start.push_back(static_cast<Index>(out.gap.size()));
  return out;
}

SummaryShape summary_shape(const Rows& rows) { return {1, rows.d + 1, rows.n_groups(), n_scalars}; }

}  // namespace bnpvi::features
