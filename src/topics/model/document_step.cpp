#include "topics/model/document_step.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/special.h"
#include "kernels/kernels.h"

namespace bnpvi::topics {

namespace {

// Guesses.
constexpr Index max_rounds = 100;
constexpr Index max_sweeps = 3;       // rounds with all topics in a cold start
constexpr double least_sum = 1e-250;  // a row's Σ_k g_uk w_k below which it is computed in logarithms
constexpr double unlikely = 18;       // log weights so far below the largest are dropped in a cold start

// Sets all but the `width` largest numbers to −∞.
void keep(Index width, double* x, Index n, std::vector<int>& chosen, Vec& kept) {
  chosen.resize(static_cast<std::size_t>(width));
  kernels().largest_rows(1, n, x, n, width, chosen.data());
  kept.assign(static_cast<std::size_t>(n), -INFINITY);
  for (int j : chosen) kept[j] = x[j];
  std::copy(kept.begin(), kept.end(), x);
}

}  // namespace

DocumentPrior::DocumentPrior(Vec prior, double sum)
    : a(std::move(prior)), log_a(a.size()), log_gamma_a(a.size()), all(sum) {
  for (std::size_t j = 0; j < a.size(); ++j) {
    log_a[j] = std::log(a[j]);
    log_gamma_a[j] = log_gamma(a[j]);
  }
}

DocStep::DocStep(const DocumentPriors& priors, Index width, const ResponseModel* model,
                 const ResponsePosterior* responses)
    : priors_(priors), prior_(&priors.of.front()), width_(width) {
  if (responses) response_.emplace(*model, *responses);
}

void DocStep::begin(const DocumentView& view) {
  prior_ = &priors_[view];
  tilted_ = response_ && response_->begin(view);
  const std::size_t n = static_cast<std::size_t>(view.n);
  if (!view.weight) ones_.resize(n, 1.0);
  c_ = view.weight ? view.weight : ones_.data();
  while (!view.row && first_rows_.size() < n) first_rows_.push_back(static_cast<int>(first_rows_.size()));
  rows_ = view.row ? view.row : first_rows_.data();
  for (Vec* v : {&s_, &share_}) v->resize(n);
  gathered_.clear();
}

// Makes the topics in topic_ the active ones.
void DocStep::use(const DocumentView& view) {
  const std::size_t m = topic_.size();
  for (Vec* v : {&count_, &before_, &p_, &w_, &x_, &y_}) v->resize(m);
  chosen_ = false;
  if (!std::includes(gathered_.begin(), gathered_.end(), topic_.begin(), topic_.end())) gather(view);
  row_.clear();
  for (std::size_t j = 0, i = 0; j < m; ++i)
    if (gathered_[i] == topic_[j]) {
      row_.push_back(static_cast<int>(i));
      ++j;
    }
  if (tilted_) response_->use(topic_);
}

// Copies entries of the table, for four words at a time, so that those of one topic are stored together; the
// last word is repeated to fill up the four.
void DocStep::gather(const DocumentView& view) {
  gathered_ = topic_;
  ld_ = (view.n + 7) / 8 * 8;
  const std::size_t size = topic_.size() * static_cast<std::size_t>(ld_);
  if (g_.size() < size) g_.resize(size);
  const auto row = [&](Index u) { return view.e + rows_[std::min(u, view.n - 1)] * view.k; };
  for (Index u = 0; u < view.n; u += 4) {
    const double *e0 = row(u), *e1 = row(u + 1), *e2 = row(u + 2), *e3 = row(u + 3);
    double* g = g_.data() + u;
    for (const int topic : topic_) {
      g[0] = e0[topic];
      g[1] = e1[topic];
      g[2] = e2[topic];
      g[3] = e3[topic];
      g += ld_;
    }
  }
}

void DocStep::weigh_by_counts() {
  const Index m = active();
  for (Index j = 0; j < m; ++j) x_[j] = count_[j] + prior_->a[topic_[j]];
  kernels().digamma_each(m, x_.data(), p_.data());
}

// A round with all topics, without copying their rows.
void DocStep::sweep(const DocumentView& view) {
  const Index k = view.k;
  add_cost(view.n, k);
  kernels().exp_rows(1, k, p_.data(), k, w_.data(), k, &shift_);
  kernels().share_sweep(view.n, k, rows_, w_.data(), view.e, k, c_, least_sum, s_.data(), share_.data(),
                        count_.data());
}

// count_ ← Σ_u c_u r_u at the log weights p_.
void DocStep::round(const DocumentView& view) {
  const Index m = active();
  add_cost(view.n, m);
  kernels().exp_rows(1, m, p_.data(), m, w_.data(), m, &shift_);
  log_apart_ = 0;
  factors_.apart.clear();
  factors_.apart_mass.clear();
  const double lowest = chosen_
                            ? kernels().share_round(m, view.n, kept_row_.data(), w_.data(), kept_.data(), ld_,
                                                    c_, least_sum, s_.data(), share_.data(), count_.data())
                            : kernels().share_round(m, view.n, row_.data(), w_.data(), g_.data(), ld_, c_,
                                                    least_sum, s_.data(), share_.data(), count_.data());
  if (lowest > least_sum) return;
  for (Index u = 0; u < view.n; ++u)
    if (!(s_[u] > least_sum)) round_apart(view, u);
}

// A round for one row in logarithms, where exp(C − max C + P) underflows for all its active topics.
void DocStep::round_apart(const DocumentView& view, Index u) {
  const Index m = active();
  Vec x(topic_.size()), kept;
  std::vector<int> chosen;
  for (Index j = 0; j < m; ++j) x[j] = view.c(u, topic_[j]) + p_[j];
  if (chosen_) keep(width_, x.data(), m, chosen, kept);
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& y : x) sum += y = std::exp(y - top);
  factors_.apart.push_back(static_cast<int>(u));
  for (Index j = 0; j < m; ++j) {
    factors_.apart_mass.push_back(c_[u] * x[j] / sum);
    count_[j] += factors_.apart_mass.back();
  }
  double shared_top = view.c(u, 0);
  for (Index j = 1; j < view.k; ++j) shared_top = std::max(shared_top, view.c(u, j));
  log_apart_ += c_[u] * (top + std::log(sum) - shift_ - shared_top);
  s_[u] = 1;
}

// Chooses for every row the L topics with the largest weights C + P.
void DocStep::choose(Index width) {
  const Index m = active(), n = static_cast<Index>(s_.size());
  chosen_ = width > 0 && width < m;
  if (!chosen_) return;
  while (static_cast<Index>(kept_row_.size()) < m) kept_row_.push_back(static_cast<int>(kept_row_.size()));
  kept_.resize(static_cast<std::size_t>(m * ld_));
  scratch_.resize(static_cast<std::size_t>(8 * width));
  factors_.mask_words = (m + 63) / 64;
  mask_.resize(static_cast<std::size_t>(n * factors_.mask_words));
  kernels().exp_rows(1, m, p_.data(), m, w_.data(), m, &shift_);
  kernels().keep_largest(m, n, row_.data(), w_.data(), g_.data(), ld_, width, scratch_.data(), kept_.data(),
                         ld_, mask_.data(), factors_.mask_words);
}

// Drops topics with a negligible count. Returns true when there were any.
bool DocStep::drop_empty() {
  std::size_t kept = 0;
  for (std::size_t j = 0; j < topic_.size(); ++j) {
    if (count_[j] < least_share) continue;
    topic_[kept] = topic_[j];
    row_[kept] = row_[j];
    count_[kept] = count_[j];
    p_[kept++] = p_[j];
  }
  if (kept == topic_.size() || kept == 0) return false;
  topic_.resize(kept);
  row_.resize(kept);
  for (Vec* v : {&count_, &before_, &p_, &w_, &x_, &y_}) v->resize(kept);
  chosen_ = false;
  if (tilted_) response_->use(topic_);
  return true;
}

// Σ_u c_u log Σ_k g_uk w_k − Σ_k N_k (P_k − max P).
double DocStep::log_sum() {
  double sum = log_apart_ + kernels().weighted_log_sum(static_cast<Index>(s_.size()), c_, s_.data());
  for (std::size_t j = 0; j < topic_.size(); ++j) sum -= count_[j] * (p_[j] - shift_);
  return sum;
}

double DocStep::bound() {
  const Index m = active();
  for (Index j = 0; j < m; ++j) x_[j] = count_[j] + prior_->a[topic_[j]];
  kernels().log_gamma_each(m, x_.data(), y_.data());
  double f = log_sum();
  for (Index j = 0; j < m; ++j) f += y_[j] - prior_->log_gamma_a[topic_[j]];
  return tilted_ ? f + response_->value(count_, nullptr) : f;
}

// Rounds from the log weights p_ until the counts converge (true), or until a bound of `rival` is out of
// reach (false).
bool DocStep::ascend(const DocumentView& view, Index limit, Index width, double rival) {
  if (tilted_ && topic_.size() > 1) return ascend_tilted(view, limit, width, rival);
  double previous = 0;
  for (Index i = 1;; ++i) {
    const bool chooses = i <= 5 || i % 10 == 0 || !chosen_;
    if (chooses) choose(width);
    before_ = count_;
    round(view);
    if (rival > -INFINITY) {
      const double now = bound();
      if (i > 1 && rival - now > largest_gap * (now - previous)) return false;
      previous = now;
    }
    double change = 0;
    for (std::size_t j = 0; j < topic_.size(); ++j)
      change = std::max(change, std::abs(count_[j] - before_[j]));
    const bool last = i >= limit || change < least_change;
    if (!drop_empty() && last) {
      if (!chooses) {
        choose(width);
        round(view);
      }
      return true;
    }
    weigh_by_counts();
  }
}

// Runs rounds from a fit with all active topics to one with L topics per row, when more than L are active.
void DocStep::narrow(const DocumentView& view, Index limit) {
  if (width_ == 0 || width_ >= active()) return;
  weigh_by_counts();
  ascend(view, limit, width_);
}

const DocumentFit& DocStep::fit(bool tell_bound) {
  fit_.bound = tell_bound ? bound() : -1e300;
  fit_.share.clear();
  for (std::size_t j = 0; j < topic_.size(); ++j)
    fit_.share.push_back({topic_[j], topic_[j], count_[j], p_[j], count_[j] + prior_->a[topic_[j]]});
  fit_.local.clear();
  if (tilted_) response_->value(count_, &fit_.local);
  if (priors_.patterned) fit_.local = {static_cast<double>(prior_ - priors_.of.data()), prior_->all};
  return fit_;
}

const DocumentFit& DocStep::cold(const DocumentView& view) {
  if (view.n == 0) return fit_ = {{}, 0, {}};
  begin(view);
  if (view.allowed) return cold_in(view, *view.allowed);
  topic_.resize(static_cast<std::size_t>(view.k));
  std::iota(topic_.begin(), topic_.end(), 0);
  for (Vec* v : {&count_, &p_, &w_, &x_}) v->resize(topic_.size());
  p_ = prior_->log_a;
  std::vector<int> likely;
  for (Index i = 0; i < max_sweeps; ++i) {
    sweep(view);
    weigh_by_counts();
    const double least = *std::max_element(p_.begin(), p_.end()) - unlikely;
    likely.clear();
    for (int j : topic_)
      if (p_[j] > least) likely.push_back(j);
    if (4 * static_cast<Index>(likely.size()) < view.k) break;
  }
  Vec counts;
  for (int j : likely) counts.push_back(count_[j]);
  topic_.swap(likely);
  use(view);
  count_ = counts;
  weigh_by_counts();
  ascend(view, max_rounds, 0);
  narrow(view, max_rounds);
  return fit(true);
}

// An optimum with these topics alone.
const DocumentFit& DocStep::cold_in(const DocumentView& view, const std::vector<int>& topics) {
  topic_ = topics;
  use(view);
  for (std::size_t j = 0; j < topic_.size(); ++j) {
    count_[j] = 0;
    p_[j] = prior_->log_a[topic_[j]];
  }
  ascend(view, max_rounds, 0);
  narrow(view, max_rounds);
  return fit(true);
}

const DocumentFit& DocStep::warm(const DocumentView& view, Shares from, bool tell_bound) {
  if (view.n == 0) return fit_ = {{}, 0, {}};
  begin(view);
  topic_.clear();
  for (const Share& s : from) topic_.push_back(s.cluster);
  use(view);
  for (std::size_t j = 0; j < from.size(); ++j) count_[j] = from[j].count;
  weigh_by_counts();
  ascend(view, max_rounds, width_);
  return fit(tell_bound);
}

const DocumentFactors& DocStep::factors(const DocumentView& view, Shares share) {
  if (view.n == 0) return factors_ = {};
  const auto is_current = [&] {
    if (share.size() != topic_.size()) return false;
    for (std::size_t j = 0; j < share.size(); ++j)
      if (share[j].cluster != topic_[j] || share[j].log_weight != p_[j]) return false;
    return true;
  };
  if (!is_current()) {
    topic_.clear();
    for (const Share& s : share) topic_.push_back(s.cluster);
    use(view);
    for (std::size_t j = 0; j < share.size(); ++j) p_[j] = share[j].log_weight;
    choose(width_);
    round(view);
  }
  factors_.n = view.n;
  factors_.m = active();
  factors_.w = w_.data();
  factors_.share = share_.data();
  factors_.mask = chosen_ ? mask_.data() : nullptr;
  factors_.log_sum = log_sum();
  return factors_;
}

void document_responsibilities(const DocumentView& view, Shares share, Index width, Vec& r, double& entropy) {
  const Index active = static_cast<Index>(share.size());
  const bool sparse = width > 0 && width < active;
  r.resize(static_cast<std::size_t>(view.n * active));
  if (active == 0) return;
  Vec x(r.size()), h(static_cast<std::size_t>(view.n));
  for (Index u = 0; u < view.n; ++u) {
    for (Index j = 0; j < active; ++j) x[u * active + j] = view.c(u, share[j].column) + share[j].log_weight;
  }
  if (sparse) {
    std::vector<int> chosen;
    Vec kept;
    for (Index u = 0; u < view.n; ++u) keep(width, x.data() + u * active, active, chosen, kept);
  }
  kernels().responsibility_rows(view.n, active, x.data(), active, 0, r.data(), active, h.data());
  for (Index u = 0; u < view.n; ++u) entropy += view.count(u) * h[u];
}

}  // namespace bnpvi::topics
