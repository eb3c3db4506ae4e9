#include "networks/soft_blocks.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi::networks {

namespace {

// Σ over the entries of a row of value · r_other: K numbers.
void gather(const SparseRows& rows, Index node, const Vec& r, Index k, Vec& sum) {
  std::fill(sum.begin(), sum.end(), 0.0);
  for (Index e = rows.start[node]; e < rows.start[node + 1]; ++e) {
    const double y = rows.value.empty() ? 1 : rows.value[e];
    const double* other = r.data() + rows.other[e] * k;
    for (Index l = 0; l < k; ++l) sum[l] += y * other[l];
  }
}

// t_kl += x r_ik r_jl
void add_pair(Vec& t, const double* ri, const double* rj, double x, Index k) {
  for (Index a = 0; a < k; ++a) {
    const double w = x * ri[a];
    if (w == 0) continue;
    for (Index b = 0; b < k; ++b) t[a * k + b] += w * rj[b];
  }
}

// An undirected table from one whose pairs count in the order they are listed: both orders, once within a
// cluster.
void symmetrise(Vec& t, Index k) {
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < a; ++b) t[a * k + b] = t[b * k + a] = t[a * k + b] + t[b * k + a];
}

}  // namespace

SoftBlocks::SoftBlocks(const Links& links, const LinkModel& model, double gamma, Index k, Vec r)
    : links_(links), model_(model), gamma_(gamma), k_(k), r_(std::move(r)) {
  refresh();
}

void SoftBlocks::refresh() {
  const std::size_t kk = static_cast<std::size_t>(k_ * k_);
  size_.assign(static_cast<std::size_t>(k_), 0);
  n_.assign(kk, 0);
  s_.assign(kk, 0);
  Vec own(kk);
  for (Index i = 0; i < links_.n(); ++i) {
    const double* ri = r_.data() + i * k_;
    for (Index a = 0; a < k_; ++a) size_[a] += ri[a];
    add_pair(own, ri, ri, 1, k_);
  }
  const auto add = [&](Vec& t, const std::vector<int>& from, const std::vector<int>& to, const Vec* value) {
    for (std::size_t p = 0; p < from.size(); ++p)
      add_pair(t, r_.data() + from[p] * k_, r_.data() + to[p] * k_, value ? (*value)[p] : 1, k_);
  };
  add(s_, links_.from(), links_.to(), &links_.value());
  Vec hidden(kk);
  add(hidden, links_.hidden_from(), links_.hidden_to(), nullptr);
  if (!links_.directed()) {
    symmetrise(s_, k_);
    symmetrise(hidden, k_);
  }
  for (Index a = 0; a < k_; ++a)
    for (Index b = 0; b < k_; ++b) {
      const double pairs = size_[a] * size_[b] - own[a * k_ + b];
      n_[a * k_ + b] = std::max(0.0, pairs * (a == b && !links_.directed() ? 0.5 : 1) - hidden[a * k_ + b]);
    }
}

BlockBound SoftBlocks::bound() const {
  BlockBound out;
  for (Index a = 0; a < k_; ++a)
    for (Index b = links_.directed() ? 0 : a; b < k_; ++b)
      out.data += model_.evidence(pairs(a, b), sum(a, b));
  for (double y : links_.value()) out.base += model_.log_base(y);
  double later = 0;
  for (Index a = k_; a-- > 0;) {
    out.allocation += log_beta(1 + size_[a], gamma_ + later) + std::log(gamma_);
    later += size_[a];
  }
  for (double p : r_) out.entropy -= x_log_x(p);
  return out;
}

void SoftBlocks::lap() {
  const std::size_t kk = static_cast<std::size_t>(k_ * k_);
  Vec w0(kk), w1(kk), prior(static_cast<std::size_t>(k_));
  for (Index a = 0; a < k_; ++a)
    for (Index b = 0; b < k_; ++b) {
      const LinkWeights w = model_.weights(pairs(a, b), sum(a, b));
      w0[a * k_ + b] = w.none;
      w1[a * k_ + b] = w.link;
    }
  Vec after(static_cast<std::size_t>(k_) + 1);
  for (Index a = k_; a-- > 0;) after[a] = after[a + 1] + size_[a];
  double rest = 0;
  for (Index a = 0; a < k_; ++a) {
    const double one = 1 + size_[a], zero = gamma_ + after[a + 1];
    prior[a] = rest + digamma_difference(one, zero);
    rest += digamma_difference(zero, one);
  }
  Vec y_out(k_), y_in(k_), h_out(k_), h_in(k_), r_new(k_);
  for (Index i = 0; i < links_.n(); ++i) {
    double* ri = r_.data() + i * k_;
    gather(links_.out(), i, r_, k_, y_out);
    gather(links_.hidden_out(), i, r_, k_, h_out);
    if (links_.directed()) {
      gather(links_.in(), i, r_, k_, y_in);
      gather(links_.hidden_in(), i, r_, k_, h_in);
    }
    double most = -HUGE_VAL;
    for (Index a = 0; a < k_; ++a) {
      double x = prior[a];
      for (Index b = 0; b < k_; ++b) {
        const double others = size_[b] - ri[b];
        x += w0[a * k_ + b] * (others - h_out[b]) + w1[a * k_ + b] * y_out[b];
        if (links_.directed()) x += w0[b * k_ + a] * (others - h_in[b]) + w1[b * k_ + a] * y_in[b];
      }
      r_new[a] = x;
      most = std::max(most, x);
    }
    double total = 0;
    for (double& x : r_new) total += x = std::exp(x - most);
    for (Index a = 0; a < k_; ++a) {
      const double p = r_new[a] / total;
      size_[a] += p - ri[a];
      ri[a] = p;
    }
  }
  refresh();
}

double SoftBlocks::bound_of_merge(Index a, Index b) const {
  SoftBlocks joined = *this;
  joined.merge(a, b);
  return joined.bound().sum();
}

void SoftBlocks::merge(Index a, Index b) {
  Vec r;
  r.reserve(static_cast<std::size_t>(links_.n() * (k_ - 1)));
  for (Index i = 0; i < links_.n(); ++i)
    for (Index l = 0; l < k_; ++l)
      if (l != b) r.push_back(r_[i * k_ + l] + (l == a ? r_[i * k_ + b] : 0));
  r_ = std::move(r);
  --k_;
  refresh();
}

}  // namespace bnpvi::networks
