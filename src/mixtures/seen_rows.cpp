#include "mixtures/seen_rows.h"

#include <algorithm>
#include <utility>

#include "foundation/special.h"

namespace bnpvi::mixtures {

namespace {

constexpr double least_shared = 1e-10;  // responsibility from which a row counts in shared()

}  // namespace

void SeenRows::set(Index b, TouchedRows rows) {
  Seen& seen = batch_[static_cast<std::size_t>(b)];
  seen.rows = std::move(rows);
  for (Index n = 0; n < seen.rows.size(); ++n)
    for (Index e = seen.rows.offset[n]; e < seen.rows.offset[n + 1]; ++e) {
      const std::size_t j = static_cast<std::size_t>(seen.rows.cluster[e]);
      if (j >= seen.of.size()) seen.of.resize(j + 1);
      seen.of[j].push_back(n);
    }
}

Vec SeenRows::shared(Index k) const {
  Vec out(static_cast<std::size_t>(k * k)), r, alone;
  std::vector<int> cluster;
  for (const Seen& seen : batch_) {
    const TouchedRows& rows = seen.rows;
    for (Index n = 0; n < rows.size(); ++n) {
      r.clear(), alone.clear(), cluster.clear();
      for (Index e = rows.offset[n]; e < rows.offset[n + 1]; ++e) {
        if (rows.value[e] < least_shared) continue;
        r.push_back(rows.value[e]);
        alone.push_back(x_log_x(rows.value[e]));
        cluster.push_back(rows.cluster[e]);
      }
      for (std::size_t e = 0; e < r.size(); ++e)
        for (std::size_t f = 0; f < e; ++f)
          out[cluster[e] * k + cluster[f]] += rows.weight[n] * (x_log_x(r[e] + r[f]) - alone[e] - alone[f]);
    }
  }
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < a; ++b) {
      const double both = out[a * k + b] + out[b * k + a];
      out[a * k + b] = out[b * k + a] = both;
    }
  return out;
}

std::vector<TouchedRows> SeenRows::on(const Target& clusters, double least) const {
  std::vector<TouchedRows> out;
  for (const Seen& seen : batch_) {
    std::vector<Index> any;
    for (Index j : clusters)
      if (j < static_cast<Index>(seen.of.size())) any.insert(any.end(), seen.of[j].begin(), seen.of[j].end());
    std::sort(any.begin(), any.end());
    any.erase(std::unique(any.begin(), any.end()), any.end());
    any.erase(
        std::remove_if(any.begin(), any.end(), [&](Index n) { return seen.rows.mass(n, clusters) < least; }),
        any.end());
    out.push_back(seen.rows.some(any));
    if (!now_.empty()) out.back().renumber(now_);
  }
  return out;
}

void SeenRows::renumber(const std::vector<Index>& number) {
  if (now_.empty()) {
    now_ = number;
    return;
  }
  for (Index& j : now_) j = number[j];
}

void SeenRows::change(const std::vector<TouchedRows>& rows, double least) {
  for (std::size_t b = 0; b < batch_.size(); ++b) {
    const TouchedRows& seen = batch_[b].rows;
    for (Index row : rows[b].rows) {
      const Index n = std::lower_bound(seen.rows.begin(), seen.rows.end(), row) - seen.rows.begin();
      const Index first = seen.offset[n], last = seen.offset[n + 1];
      for (Index e = first; e < last; ++e) {
        if (seen.value[e] * static_cast<double>(last - first) < least) continue;
        const std::size_t j = static_cast<std::size_t>(seen.cluster[e]);
        if (j >= changed_.size()) changed_.resize(j + 1);
        changed_[j] = true;
      }
    }
  }
}

bool SeenRows::may_have_changed(const Target& clusters) const {
  return std::any_of(clusters.begin(), clusters.end(),
                     [&](Index j) { return j < static_cast<Index>(changed_.size()) && changed_[j]; });
}

}  // namespace bnpvi::mixtures
