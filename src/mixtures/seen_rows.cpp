#include "mixtures/seen_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "foundation/chunks.h"
#include "foundation/special.h"

namespace bnpvi::mixtures {

namespace {

constexpr double least_shared = 1e-10;  // responsibility from which a row counts in shared()
constexpr double small_share = 1e-3;    // of the larger responsibility, from which a logarithm is taken

// (a + b) log(a + b) − a log a − b log b, given log a and log b. Where b is a small share of a, it is b (1 +
// log a − log b) + b² / 2a up to a relative error of 1e-7.
double entropy_of_joining(double a, double b, double log_a, double log_b) {
  if (b > a) std::swap(a, b), std::swap(log_a, log_b);
  if (b < small_share * a) return b * (1 + log_a - log_b + b / (2 * a));
  return x_log_x(a + b) - a * log_a - b * log_b;
}

// Adds the entropy that rows first .. last − 1 would lose for each pair of clusters, at one of its two
// places.
void add_shared(const TouchedRows& rows, Index first, Index last, Index k, Vec& out) {
  Vec r, logs;
  std::vector<int> cluster;
  for (Index n = first; n < last; ++n) {
    r.clear(), logs.clear(), cluster.clear();
    for (Index e = rows.offset[n]; e < rows.offset[n + 1]; ++e) {
      if (rows.value[e] < least_shared) continue;
      r.push_back(rows.value[e]);
      cluster.push_back(rows.cluster[e]);
    }
    if (r.size() < 2) continue;
    for (const double x : r) logs.push_back(std::log(x));
    for (std::size_t e = 0; e < r.size(); ++e)
      for (std::size_t f = 0; f < e; ++f)
        out[cluster[e] * k + cluster[f]] += rows.weight[n] * entropy_of_joining(r[e], r[f], logs[e], logs[f]);
  }
}

}  // namespace

void SeenRows::set(Index b, TouchedRows rows) {
  std::vector<std::vector<int>>& of = of_[static_cast<std::size_t>(b)];
  for (Index n = 0; n < rows.size(); ++n)
    for (Index e = rows.offset[n]; e < rows.offset[n + 1]; ++e) {
      const auto j = static_cast<std::size_t>(rows.cluster[e]);
      if (j >= of.size()) of.resize(j + 1);
      of[j].push_back(static_cast<int>(n));
    }
  batch_[static_cast<std::size_t>(b)] = std::move(rows);
}

std::vector<Index> SeenRows::near(Index b, const Target& clusters) const {
  const std::vector<std::vector<int>>& of = of_[static_cast<std::size_t>(b)];
  std::vector<bool> is_near(static_cast<std::size_t>(rows(b).size()));
  for (Index j : clusters)
    if (j < static_cast<Index>(of.size()))
      for (int n : of[static_cast<std::size_t>(j)]) is_near[static_cast<std::size_t>(n)] = true;
  std::vector<Index> out;
  for (std::size_t n = 0; n < is_near.size(); ++n)
    if (is_near[n]) out.push_back(static_cast<Index>(n));
  return out;
}

Vec SeenRows::shared(Index k, Pool& pool) const {
  Vec out(static_cast<std::size_t>(k * k));
  for (const TouchedRows& rows : batch_) {
    const Index n_chunks = count_chunks(rows.size(), k * k);
    std::vector<Vec> sum(static_cast<std::size_t>(n_chunks));
    pool.run(n_chunks, [&](Index chunk) {
      sum[chunk].resize(out.size());
      add_shared(rows, chunk_begin(rows.size(), n_chunks, chunk), chunk_end(rows.size(), n_chunks, chunk), k,
                 sum[chunk]);
    });
    for (const Vec& part : sum)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += part[i];
  }
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < a; ++b) {
      const double both = out[a * k + b] + out[b * k + a];
      out[a * k + b] = out[b * k + a] = both;
    }
  return out;
}

TouchedRows SeenRows::some(Index b, const std::vector<Index>& positions) const {
  TouchedRows out = rows(b).some(positions);
  if (!now_.empty()) out.renumber(now_);
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
    const TouchedRows& seen = batch_[b];
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
