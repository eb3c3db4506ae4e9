#include "features/row_step.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/kernels.h"

namespace bnpvi::features {

namespace {
constexpr double converged = 1e-3;      // change of ν that ends sweeps
constexpr double no_change = 1e-9;      // below which ν is left as it is: leaving it lowers nothing
constexpr double absent_below = -30;    // logit below which ν is 0: the bound loses e^−30
constexpr double present_above = 1e-6;  // ν of a feature that remains a candidate
constexpr double least_gain = 0.01;     // of an exchange, nats: a guess
}  // namespace

RowStep::RowStep(const LocalModel& model, const RowBatch& batch)
    : model_(model),
      batch_(batch),
      k_(model.k()),
      logit_(static_cast<std::size_t>(k_)),
      gram_(model.loadings.gram.data()),
      nu_(static_cast<std::size_t>(k_)),
      field_(nu_),
      scores_(nu_) {
  std::copy(model.logit.begin(), model.logit.end(), logit_.begin() + model.offset);
}

void RowStep::begin(Index i, const double* g) {
  g_ = g;
  const Index free = k_ - model_.offset;
  Stream stream(model_.seed, Purpose::sweep_order,
                model_.by_row ? static_cast<std::uint64_t>(batch_.number[i]) : 0);
  first_ = free > 0 ? stream.index(free) : 0;
  const Index n = batch_.n_gaps(i);
  const int* gaps = batch_.gaps(i);
  if (n == 0) {
    gram_ = model_.loadings.gram.data();
    return;
  }
  if (own_gram_.empty() || !std::equal(gaps, gaps + n, gaps_of_own_.begin(), gaps_of_own_.end())) {
    own_gram_ = model_.loadings.gram;
    for (Index j = 0; j < n; ++j) {
      const Vec& part = model_.loadings.gram_of[gaps[j]];
      for (std::size_t e = 0; e < part.size(); ++e) own_gram_[e] -= part[e];
    }
    gaps_of_own_.assign(gaps, gaps + n);
  }
  gram_ = own_gram_.data();
}

void RowStep::set(const double* nu) {
  std::copy_n(nu, k_, nu_.begin());
  std::fill(field_.begin(), field_.end(), 0.0);
  for (Index j = 0; j < k_; ++j)
    if (nu_[j] > 0)
      for (Index l = 0; l < k_; ++l) field_[l] += nu_[j] * gram_[j * k_ + l];
}

void RowStep::set_alone() {
  Vec start(static_cast<std::size_t>(k_));
  for (Index j = 0; j < k_; ++j) {
    double logit = logit_[j] + g_[j] - gram_[j * k_ + j] / 2;
    if (model_.offset) logit -= gram_[j];
    start[j] = j < model_.offset ? 1 : logit < absent_below ? 0 : 1 / (1 + std::exp(-logit));
  }
  set(start.data());
}

// With L > 0: chooses the features present and the L most probable others.
void RowStep::choose() {
  active_.clear();
  std::vector<int> others;
  for (Index j = model_.offset; j < k_; ++j) {
    if (nu_[j] > present_above) {
      active_.push_back(static_cast<int>(j));
      continue;
    }
    if (nu_[j] > 0)
      for (Index l = 0; l < k_; ++l) field_[l] -= nu_[j] * gram_[j * k_ + l];
    nu_[j] = 0;
    others.push_back(static_cast<int>(j));
  }
  for (int j : others) scores_[j] = score(j);
  const auto width = std::min<std::size_t>(others.size(), static_cast<std::size_t>(model_.sparsity));
  std::partial_sort(others.begin(), others.begin() + static_cast<Index>(width), others.end(),
                    [&](int a, int b) { return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b; });
  active_.insert(active_.end(), others.begin(), others.begin() + static_cast<Index>(width));
  std::sort(active_.begin(), active_.end());
}

void RowStep::sweep(Index most) {
  if (k_ == model_.offset || most == 0) return;
  if (model_.sparsity > 0 && model_.sparsity < k_ - model_.offset) {
    choose();
  } else {
    active_.resize(static_cast<std::size_t>(k_ - model_.offset));
    std::iota(active_.begin(), active_.end(), static_cast<int>(model_.offset));
  }
  for (Index i = 0; i < most && step(); ++i) {
  }
}

// One sweep; true when some ν changed by more than the tolerance.
bool RowStep::step() {
  double most = 0;
  const std::size_t n = active_.size();
  std::size_t at = static_cast<std::size_t>(first_) % n;
  for (std::size_t i = 0; i < n; ++i, at = at + 1 == n ? 0 : at + 1) {
    const Index j = active_[at];
    const double logit = score(j), now = logit < absent_below ? 0 : 1 / (1 + std::exp(-logit)),
                 step = now - nu_[j];
    if (std::abs(step) < no_change && (now > 0 || nu_[j] == 0)) continue;
    change(j, now);
    most = std::max(most, std::abs(step));
  }
  return most > converged;
}

bool RowStep::exchange() {
  const std::size_t n = active_.size();
  Vec sign(n), gain(n);
  for (std::size_t i = 0; i < n; ++i) {
    sign[i] = nu_[active_[i]] > 0.5 ? -1 : 1;
    gain[i] = sign[i] * score(active_[i]);
  }
  double most = least_gain;
  std::pair<std::size_t, std::size_t> best{n, n};
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = gram_ + active_[i] * k_;
    for (std::size_t j = 0; j < i; ++j) {
      const double both = gain[i] + gain[j] - sign[i] * sign[j] * row[active_[j]];
      if (both > most) most = both, best = {i, j};
    }
  }
  if (best.first == n) return false;
  for (std::size_t i : {best.first, best.second}) {
    change(active_[i], sign[i] > 0 ? 1 : 0);
  }
  return true;
}

void RowStep::draw(Stream& stream) {
  for (Index j = model_.offset; j < k_; ++j) {
    const double now = stream.uniform() * (1 + std::exp(-score(j))) < 1;
    if (now != nu_[j]) change(j, now);
  }
}

void RowStep::change(Index j, double now) {
  const double step = now - nu_[j];
  nu_[j] = now;
  for (Index l = 0; l < k_; ++l) field_[l] += step * gram_[j * k_ + l];
}

double RowStep::bound() const {
  double sum = 0;
  for (Index j = 0; j < k_; ++j) {
    if (nu_[j] == 0) continue;
    sum += nu_[j] * (g_[j] + logit_[j] - field_[j] / 2 - gram_[j * k_ + j] * (1 - nu_[j]) / 2) +
           binary_entropy(nu_[j]);
  }
  return sum;
}

}  // namespace bnpvi::features
