#include "doc_step.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels.h"
#include "special.h"

namespace bnpvi {

namespace {

constexpr Index max_rounds = 100;
constexpr Index max_restart_rounds = 10;
constexpr Index max_restarts = 25;
constexpr double settled = 0.05;      // largest change of a count that ends the rounds
constexpr Index worth_a_kernel = 16;  // topics
constexpr double least_sum = 1e-250;  // below: logarithms are needed

// The `width` positions with the largest x, in ascending order.
void largest(const double* x, Index n, Index width, std::vector<int>& order, int* out) {
  order.resize(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::nth_element(order.begin(), order.begin() + width, order.end(),
                   [x](int a, int b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
  std::sort(order.begin(), order.begin() + width);
  std::copy_n(order.begin(), width, out);
}

}  // namespace

DocumentPrior::DocumentPrior(Vec alpha_pi) : a(std::move(alpha_pi)) {
  log_gamma_a.reserve(a.size());
  for (double x : a) log_gamma_a.push_back(log_gamma(x));
}

void DocStep::activate(const DocumentView& view, std::vector<int> topics) {
  topic_ = std::move(topics);
  const Index active = static_cast<Index>(topic_.size());
  g_.resize(static_cast<std::size_t>(view.n * active));
  for (Index u = 0; u < view.n; ++u) {
    const double* e = view.e_row(u);
    double* g = g_.data() + u * active;
    for (Index j = 0; j < active; ++j) g[j] = e[topic_[j]];
  }
  s_.resize(static_cast<std::size_t>(view.n));
  rows_.resize(s_.size());
  std::iota(rows_.begin(), rows_.end(), 0);
  count_.assign(topic_.size(), 0.0);
  p_.resize(topic_.size());
}

void DocStep::weigh_by_counts() {
  for (std::size_t j = 0; j < topic_.size(); ++j) p_[j] = digamma(count_[j] + prior_.a[topic_[j]]);
}

// count_ ← Σ_u c_u r_u at the log weights p_.
void DocStep::round(const DocumentView& view) {
  const Index active = static_cast<Index>(topic_.size());
  shift_ = *std::max_element(p_.begin(), p_.end());
  w_.resize(p_.size());
  for (Index j = 0; j < active; ++j) w_[j] = std::exp(p_[j] - shift_);
  std::fill(count_.begin(), count_.end(), 0.0);
  apart_.assign(p_.size(), 0.0);
  log_apart_ = 0;
  sum_rows();
  share_.resize(s_.size());
  for (Index u = 0; u < view.n; ++u) {
    const bool apart = !(s_[u] > least_sum);
    share_[u] = apart ? 0 : view.count(u) / s_[u];
    if (apart) round_apart(view, u);
  }
  if (chosen_.empty()) {
    kernels().add_sparse_rows(view.n, active, rows_.data(), share_.data(), g_.data(), active, count_.data());
  } else {
    for (Index u = 0; u < view.n; ++u)
      for (Index l = 0; l < width_; ++l) {
        const int j = chosen_[u * width_ + l];
        count_[j] += share_[u] * g_[u * active + j];
      }
  }
  for (Index j = 0; j < active; ++j) count_[j] = count_[j] * w_[j] + apart_[j];
}

// s_u = Σ_k g_uk w_k, over the chosen topics.
void DocStep::sum_rows() {
  const Index n = static_cast<Index>(s_.size()), active = static_cast<Index>(topic_.size());
  if (!chosen_.empty()) {
    for (Index u = 0; u < n; ++u) {
      s_[u] = 0;
      for (Index l = 0; l < width_; ++l) {
        const int j = chosen_[u * width_ + l];
        s_[u] += g_[u * active + j] * w_[j];
      }
    }
  } else if (active >= worth_a_kernel) {
    kernels().product_nt(1, n, active, w_.data(), active, g_.data(), active, s_.data(), n);
  } else {
    for (Index u = 0; u < n; ++u) {
      const double* g = g_.data() + u * active;
      double s = 0;
      for (Index j = 0; j < active; ++j) s += g[j] * w_[j];
      s_[u] = s;
    }
  }
}

// A row whose active topics all have exp(C + P) = 0 next to an inactive or an unlikely one.
void DocStep::round_apart(const DocumentView& view, Index u) {
  const double* c = view.c_row(u);
  const Index active = static_cast<Index>(topic_.size());
  Vec x(p_.size(), -INFINITY);
  if (chosen_.empty())
    for (Index j = 0; j < active; ++j) x[j] = c[topic_[j]] + p_[j];
  else
    for (Index l = 0; l < width_; ++l) {
      const int j = chosen_[u * width_ + l];
      x[j] = c[topic_[j]] + p_[j];
    }
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& y : x) sum += y = std::exp(y - top);
  for (Index j = 0; j < active; ++j) apart_[j] += view.count(u) * x[j] / sum;
  const double shared_top = *std::max_element(c, c + view.k);
  log_apart_ += view.count(u) * (top + std::log(sum) - shift_ - shared_top);
  s_[u] = 1;
}

// The L topics of every row with the largest weights C + P.
void DocStep::choose(const DocumentView& view) {
  chosen_.clear();
  const Index active = static_cast<Index>(topic_.size());
  if (width_ == 0 || width_ >= active) return;
  chosen_.resize(static_cast<std::size_t>(view.n * width_));
  Vec x(p_.size());
  for (Index u = 0; u < view.n; ++u) {
    const double* c = view.c_row(u);
    for (Index j = 0; j < active; ++j) x[j] = c[topic_[j]] + p_[j];
    largest(x.data(), active, width_, order_, chosen_.data() + u * width_);
  }
}

// Forgets topics with a negligible count; unless `all`, only when that pays. True when any is gone.
bool DocStep::drop_empty(const DocumentView& view, bool all) {
  const std::size_t active = topic_.size();
  std::vector<std::size_t> kept;
  for (std::size_t j = 0; j < active; ++j)
    if (count_[j] >= least_share) kept.push_back(j);
  if (kept.size() == active || (!all && 5 * kept.size() > 4 * active) || kept.empty()) return false;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    topic_[i] = topic_[kept[i]];
    count_[i] = count_[kept[i]];
    p_[i] = p_[kept[i]];
  }
  for (Index u = 0; u < view.n; ++u) {
    const double* from = g_.data() + static_cast<std::size_t>(u) * active;
    double* to = g_.data() + static_cast<std::size_t>(u) * kept.size();
    for (std::size_t i = 0; i < kept.size(); ++i) to[i] = from[kept[i]];
  }
  topic_.resize(kept.size());
  count_.resize(kept.size());
  p_.resize(kept.size());
  chosen_.clear();
  return true;
}

double DocStep::bound(const DocumentView& view) const {
  double f = log_apart_;
  for (Index u = 0; u < view.n; ++u) f += view.count(u) * std::log(s_[u]);
  for (std::size_t j = 0; j < topic_.size(); ++j) {
    const double a = prior_.a[topic_[j]];
    f += log_gamma(count_[j] + a) - prior_.log_gamma_a[topic_[j]] - count_[j] * (p_[j] - shift_);
  }
  return f;
}

// Rounds from the log weights p_ until the counts settle.
DocumentFit DocStep::ascend(const DocumentView& view, Index limit) {
  Vec before;
  chosen_.clear();
  for (Index i = 1;; ++i) {
    const bool chooses = i <= 5 || i % 10 == 0 || chosen_.empty();
    if (chooses) choose(view);
    before = count_;
    round(view);
    double change = 0;
    for (std::size_t j = 0; j < topic_.size(); ++j)
      change = std::max(change, std::abs(count_[j] - before[j]));
    const bool last = i >= limit || change < settled;
    if (!drop_empty(view, last) && last) {
      if (chooses) break;
      choose(view);
      round(view);
      break;
    }
    weigh_by_counts();
  }
  DocumentFit fit;
  fit.bound = bound(view);
  for (std::size_t j = 0; j < topic_.size(); ++j)
    fit.share.push_back({topic_[j], topic_[j], count_[j], p_[j], count_[j] + prior_.a[topic_[j]]});
  return fit;
}

DocumentFit DocStep::cold(const DocumentView& view) {
  if (view.n == 0) return {{}, 0};
  std::vector<int> topics(static_cast<std::size_t>(prior_.k()));
  std::iota(topics.begin(), topics.end(), 0);
  activate(view, std::move(topics));
  for (std::size_t j = 0; j < topic_.size(); ++j) p_[j] = std::log(prior_.a[j]);
  std::fill(count_.begin(), count_.end(), -1.0);
  return ascend(view, max_rounds);
}

DocumentFit DocStep::warm(const DocumentView& view, const std::vector<TopicShare>& from) {
  if (view.n == 0) return {{}, 0};
  std::vector<int> topics;
  for (const TopicShare& s : from) topics.push_back(s.topic);
  activate(view, std::move(topics));
  for (std::size_t j = 0; j < from.size(); ++j) count_[j] = from[j].count;
  weigh_by_counts();
  return ascend(view, max_rounds);
}

void DocStep::restarts(const DocumentView& view, DocumentFit& fit) {
  std::vector<std::pair<double, int>> targets;
  for (const TopicShare& s : fit.share) targets.push_back({s.count, s.topic});
  std::sort(targets.begin(), targets.end());
  if (static_cast<Index>(targets.size()) > max_restarts) targets.resize(max_restarts);
  for (const auto& target : targets) {
    std::vector<TopicShare> without = fit.share;
    const auto at = std::find_if(without.begin(), without.end(),
                                 [&](const TopicShare& s) { return s.topic == target.second; });
    if (at == without.end()) continue;
    if (without.size() == 1) break;
    without.erase(at);
    std::vector<int> topics;
    for (const TopicShare& s : without) topics.push_back(s.topic);
    activate(view, std::move(topics));
    for (std::size_t j = 0; j < without.size(); ++j) count_[j] = without[j].count;
    weigh_by_counts();
    DocumentFit proposed = ascend(view, max_restart_rounds);
    if (proposed.bound > fit.bound) fit = std::move(proposed);
  }
}

void document_responsibilities(const DocumentView& view, const std::vector<TopicShare>& share, Index width,
                               Vec& r, double& entropy) {
  const Index active = static_cast<Index>(share.size());
  const bool sparse = width > 0 && width < active;
  r.resize(static_cast<std::size_t>(view.n * active));
  if (active == 0) return;
  Vec x(r.size()), h(static_cast<std::size_t>(view.n));
  for (Index u = 0; u < view.n; ++u) {
    const double* c = view.c_row(u);
    for (Index j = 0; j < active; ++j) x[u * active + j] = c[share[j].column] + share[j].log_weight;
  }
  if (sparse) {
    std::vector<int> order, chosen(static_cast<std::size_t>(width));
    Vec kept(share.size());
    for (Index u = 0; u < view.n; ++u) {
      double* row = x.data() + u * active;
      largest(row, active, width, order, chosen.data());
      kept.assign(share.size(), -INFINITY);
      for (int j : chosen) kept[j] = row[j];
      std::copy(kept.begin(), kept.end(), row);
    }
  }
  kernels().responsibility_rows(view.n, active, x.data(), active, 0, r.data(), active, h.data());
  for (Index u = 0; u < view.n; ++u) entropy += view.count(u) * h[u];
}

}  // namespace bnpvi
