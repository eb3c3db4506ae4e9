// Rows of a block that hide something: missing cells, or a scale (ExpectedCells).
#include <algorithm>
#include <map>
#include <numeric>

#include "observations/feature_block.h"
#include "observations/hidden_scales.h"
#include "observations/reduced_weights.h"

namespace bnpvi {

void FeatureBlock::find_incomplete() {
  Vec spare;
  if (!incomplete_.empty()) spare = std::move(incomplete_.front().phi);
  // If all rows hide something, dense features are 0 until complete() writes them.
  const bool zero = all_incomplete_ && (patterns_.empty() || !any_complete_);
  incomplete_.clear();
  Index left = n_;
  std::vector<Index> numbers;
  for (IncompleteRows& rows : cells_->incomplete_rows(data_, rows_, n_)) {
    std::shared_ptr<const MissingPattern>& pattern = patterns_[rows.missing];
    if (!pattern) pattern = cells_->pattern(rows.missing);
    const Index p = pattern->n_features(), n = static_cast<Index>(rows.at.size());
    numbers.clear();
    if (n < n_)
      for (Index i : rows.at) numbers.push_back(rows_[i]);
    if (!zero)
      for (Index i : rows.at) std::fill_n(dense_phi_.data() + i * dense_ld_, dense_, 0.0);
    left -= n;
    spare.resize(static_cast<std::size_t>(n * p));
    incomplete_.push_back({pattern, std::move(rows.at), std::move(spare)});
    spare = Vec();
    pattern->features(data_, n < n_ ? numbers.data() : rows_, n, incomplete_.back().phi.data(), p);
  }
  any_complete_ = left > 0;
}

void FeatureBlock::complete(const double* w) {
  if (!w) w = prior_.data();
  const double one = 1;
  for (const Incomplete& g : incomplete_) {
    const Index p = g.pattern->n_features();
    for (std::size_t i = 0; i < g.at.size(); ++i) {
      double* out = dense_phi_.data() + g.at[i] * dense_ld_;
      g.pattern->add(1, g.phi.data() + static_cast<Index>(i) * p, 1, &one, &w, &out);
    }
  }
  incomplete_.clear();
  any_complete_ = true;
  filled_ = false;
}

// Returns rows × clusters.
Vec FeatureBlock::reduced_products(const Incomplete& g, const Weights& weights,
                                   const std::vector<int>& clusters, Index first, Index last) const {
  const Vec reduced = reduced_weights(*g.pattern, weights, clusters);
  Vec out(clusters.size() * static_cast<std::size_t>(last - first));
  g.pattern->products(last - first, g.phi.data() + first * g.pattern->n_features(),
                      static_cast<Index>(clusters.size()), reduced.data(), out.data());
  return out;
}

void FeatureBlock::times_own_incomplete(const Incomplete& g, const Weights& weights, const int* cluster,
                                        Index width, double* c) const {
  std::map<int, Vec> reduced;
  const Index p = g.pattern->n_features();
  for (std::size_t i = 0; i < g.at.size(); ++i)
    for (Index l = g.at[i] * width; l < (g.at[i] + 1) * width; ++l) {
      Vec& own = reduced[cluster[l]];
      if (own.empty()) {
        own.resize(static_cast<std::size_t>(g.pattern->n_weights()));
        g.pattern->weights(weights.w.data() + cluster[l] * p_, own.data());
      }
      double value = 0;
      g.pattern->products(1, g.phi.data() + static_cast<Index>(i) * p, 1, own.data(), &value);
      c[l] += value;
    }
}

void FeatureBlock::add_incomplete(const Incomplete& g, const Responsibilities& r, FeatureSum& sum) const {
  const Index n = static_cast<Index>(g.at.size());
  std::vector<const double*> w;
  std::vector<double*> t;
  const auto use = [&](Index j) {
    w.push_back(sum.expected_ ? sum.expected_->w.data() + (sum.number_ ? (*sum.number_)[j] : j) * p_
                              : prior_.data());
    t.push_back(sum.sum_.data() + sum.place(static_cast<int>(j)) * dense_);
  };
  // Uses kept products; not possible if weights are those of an earlier visit, which had no clusters born
  // later.
  if (n == n_ && !r.sparse && !sum.few_ && !sum.number_ && keeping(obs_, *g.pattern)) {
    for (Index j = 0; j < r.k; ++j) use(j);
    return g.pattern->add(n, g.phi.data(), r.k, r.value.data(), w.data(), t.data());
  }
  std::vector<Index> used;
  std::vector<char> any(static_cast<std::size_t>(r.k), 0);
  Index left = r.k;
  for (auto i = g.at.begin(); i != g.at.end() && left > 0; ++i)
    for (Index l = *i * r.width; l < (*i + 1) * r.width; ++l) {
      char& seen = any[r.sparse ? r.cluster[l] : l - *i * r.width];
      if (seen || r.value[l] == 0) continue;
      seen = 1;
      --left;
    }
  std::vector<Index> column(any.size(), -1);  // for each cluster, its number among those used
  for (Index j = 0; j < r.k; ++j) {
    if (!any[j]) continue;
    column[j] = static_cast<Index>(used.size());
    used.push_back(j);
    sum.place(static_cast<int>(j));
  }
  const Index k = static_cast<Index>(used.size());
  for (Index j : used) use(j);
  if (n == n_ && k == r.k && !r.sparse)
    return g.pattern->add(n, g.phi.data(), k, r.value.data(), w.data(), t.data());
  Vec weight(static_cast<std::size_t>(n * k), 0.0);
  for (Index i = 0; i < n; ++i)
    for (Index l = g.at[i] * r.width; l < (g.at[i] + 1) * r.width; ++l)
      if (r.value[l] != 0)
        weight[i * k + column[r.sparse ? r.cluster[l] : l - g.at[i] * r.width]] = r.value[l];
  g.pattern->add(n, g.phi.data(), k, weight.data(), w.data(), t.data());
}

}  // namespace bnpvi
