#include "inference/learn/rename.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bnpvi {

// By shortest augmenting paths, row by row, with prices of rows and columns [Jonker and Volgenant 1987].
std::vector<Index> best_assignment(const Vec& value, Index n, Index m) {
  if (n > m) throw std::logic_error("fewer columns than rows to assign");
  constexpr double far = std::numeric_limits<double>::infinity();
  Vec row_price(static_cast<std::size_t>(n + 1), 0.0), column_price(static_cast<std::size_t>(m + 1), 0.0);
  std::vector<Index> row_of(static_cast<std::size_t>(m + 1), 0), before(row_of.size(), 0);  // from 1; 0: none
  for (Index i = 1; i <= n; ++i) {
    row_of[0] = i;
    Index column = 0;
    Vec least(row_of.size(), far);
    std::vector<bool> used(row_of.size(), false);
    do {
      used[column] = true;
      const Index row = row_of[column];
      double step = far;
      Index next = 0;
      for (Index j = 1; j <= m; ++j) {
        if (used[j]) continue;
        const double cost = -value[(row - 1) * m + j - 1] - row_price[row] - column_price[j];
        if (cost < least[j]) {
          least[j] = cost;
          before[j] = column;
        }
        if (least[j] < step) {
          step = least[j];
          next = j;
        }
      }
      for (Index j = 0; j <= m; ++j)
        if (used[j]) {
          row_price[row_of[j]] += step;
          column_price[j] -= step;
        } else {
          least[j] -= step;
        }
      column = next;
    } while (row_of[column] != 0);
    for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
  }
  std::vector<Index> out(static_cast<std::size_t>(n));
  for (Index j = 1; j <= m; ++j)
    if (row_of[j] > 0) out[row_of[j] - 1] = j - 1;
  return out;
}

namespace {

// names × clusters: the gain Δ of evidence if the cluster had the name.
Vec gains_of_names(const NamedClusters& names, const Summary& s) {
  const Index n = names.n_names();
  Vec own(static_cast<std::size_t>(n)), out(static_cast<std::size_t>(n * s.k));
  for (Index j = 0; j < s.k; ++j) {
    names.gains(s.t(j), own.data());
    for (Index i = 0; i < n; ++i) out[i * s.k + j] = own[i];
  }
  return out;
}

// names × clusters: the proportion of the cluster's counts that are in the name's columns.
Vec shares_of_names(const NamedClusters& names, const Summary& s) {
  const Index n = names.n_names();
  Vec out(static_cast<std::size_t>(n * s.k), 0.0);
  for (Index j = 0; j < s.k; ++j) {
    const double* x = s.t(j) + 1;  // columns
    double all = 0;
    for (Index v = 0; v + 1 < s.shape.p; ++v) all += std::max(x[v], 0.0);
    for (Index i = 0; all > 0 && i < n; ++i)
      for (int v : names.columns_of(static_cast<int>(i) + 1)) out[i * s.k + j] += std::max(x[v], 0.0) / all;
  }
  return out;
}

void assign(const std::vector<Index>& cluster, Summary& s) {
  s.names.of.assign(static_cast<std::size_t>(s.k), 0);
  for (std::size_t i = 0; i < cluster.size(); ++i) s.names.of[cluster[i]] = static_cast<int>(i) + 1;
}

}  // namespace

void rename(const ObsModel& obs, double elbo, Summary& s) {
  if (!s.names.any()) return;
  const NamedClusters& names = *obs.capabilities().names;
  constexpr double never = -1e100;
  Vec gain = gains_of_names(names, s);
  for (double x : gain)
    if (!std::isfinite(x)) return;
  const Vec share = shares_of_names(names, s);
  for (Index j = 0; j < s.k; ++j) {
    const Index i = s.names.of[j] - 1;
    for (Index l = 0; i >= 0 && l < s.k; ++l)
      if (share[i * s.k + l] < share[i * s.k + j] || s.owner_of(l) != s.owner_of(j))
        gain[i * s.k + l] = never;
  }
  const std::vector<Index> best = best_assignment(gain, names.n_names(), s.k);
  double more = 0;
  for (std::size_t i = 0; i < best.size(); ++i) more += gain[i * s.k + best[i]];
  for (Index j = 0; j < s.k; ++j)
    if (s.names.of[j] > 0) more -= gain[(s.names.of[j] - 1) * s.k + j];
  if (more > 1e-9 * (1 + std::abs(elbo))) assign(best, s);
}

Index n_lacking_for_names(const NamedClusters& names, const Summary& s) {
  if (s.owner.empty()) return std::max<Index>(0, names.n_names() - s.k);
  Index lacking = 0;
  for (int name = 1; name <= names.n_names(); ++name) lacking += names.class_of(name) == 0;
  return std::max<Index>(0, lacking - std::count(s.owner.begin(), s.owner.end(), 0));
}

void give_names(const ObsModel& obs, Summary& s) {
  const NamedClusters* names = obs.capabilities().names;
  if (!names || s.names.any()) return;
  const Index n = names->n_names();
  Vec value = shares_of_names(*names, s);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < s.k && !s.owner.empty(); ++j)
      if (s.owner_of(j) != names->class_of(static_cast<int>(i) + 1))
        value[i * s.k + j] -= static_cast<double>(n + 1);
  assign(best_assignment(value, n, s.k), s);
}

}  // namespace bnpvi
