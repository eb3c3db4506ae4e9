#include "networks/soft_blocks.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "inference/learn/check_progress.h"
#include "networks/block_tables.h"
#include "networks/network_fit.h"

namespace bnpvi::networks {

double stick_evidence(const Vec& sizes, double gamma) {
  double sum = 0, later = 0;
  for (std::size_t a = sizes.size(); a-- > 0;) {
    sum += log_beta(1 + sizes[a], gamma + later) + std::log(gamma);
    later += sizes[a];
  }
  return sum;
}

SoftBlocks::SoftBlocks(const Links& links, const LinkModel& model, double gamma, Index k, Vec r, Owners owner)
    : links_(links), model_(model), gamma_(gamma), k_(k), owner_(std::move(owner)), r_(std::move(r)) {
  owner_.resize(static_cast<std::size_t>(k_));
  refresh();
}

void SoftBlocks::refresh() {
  size_.assign(static_cast<std::size_t>(k_), 0);
  for (Index i = 0; i < links_.n(); ++i)
    for (Index a = 0; a < k_; ++a) size_[a] += r_[i * k_ + a];
  s_ = listed_table(links_, links_.from(), links_.to(), &links_.value(), r_, k_);
  n_ = table_of_all(links_, size_, r_, k_);
  const Vec hidden = listed_table(links_, links_.hidden_from(), links_.hidden_to(), nullptr, r_, k_);
  for (std::size_t at = 0; at < n_.size(); ++at) n_[at] = std::max(0.0, n_[at] - hidden[at]);
}

BlockBound SoftBlocks::bound() const {
  BlockBound out;
  for (Index a = 0; a < k_; ++a)
    for (Index b = links_.directed() ? 0 : a; b < k_; ++b)
      out.data += model_.evidence(pairs(a, b), sum(a, b));
  for (double y : links_.value()) out.base += model_.log_base(y);
  out.allocation = stick_evidence(size_, gamma_);
  for (double p : r_) out.entropy -= x_log_x(p);
  return out;
}

SoftBlocks::Weights SoftBlocks::weights() const {
  Weights out;
  for (Index a = 0; a < k_; ++a)
    for (Index b = 0; b < k_; ++b) {
      const LinkWeights w = model_.weights(pairs(a, b), sum(a, b));
      out.none.push_back(w.none);
      out.link.push_back(w.link);
    }
  out.prior.resize(static_cast<std::size_t>(k_));
  Vec after(static_cast<std::size_t>(k_) + 1);
  for (Index a = k_; a-- > 0;) after[a] = after[a + 1] + size_[a];
  double rest = 0;
  for (Index a = 0; a < k_; ++a) {
    const double one = 1 + size_[a], zero = gamma_ + after[a + 1];
    out.prior[a] = rest + digamma_difference(one, zero);
    rest += digamma_difference(zero, one);
  }
  return out;
}

void SoftBlocks::meet(Index i, Met& met) const {
  for (Vec* x : {&met.out, &met.in, &met.pairs_out, &met.pairs_in})
    x->assign(static_cast<std::size_t>(k_), 0);
  gather(links_.out(), i, r_, k_, met.out.data());
  gather(links_.hidden_out(), i, r_, k_, met.pairs_out.data());
  if (links_.directed()) {
    gather(links_.in(), i, r_, k_, met.in.data());
    gather(links_.hidden_in(), i, r_, k_, met.pairs_in.data());
  }
  for (Index b = 0; b < k_; ++b) {
    const double others = size_[b] - r_[i * k_ + b];
    met.pairs_out[b] = others - met.pairs_out[b];
    met.pairs_in[b] = others - met.pairs_in[b];
  }
}

void SoftBlocks::visit(Index i, const Weights& w, Met& met) {
  links_.poll(i);
  double* ri = r_.data() + i * k_;
  meet(i, met);
  Vec r_new(static_cast<std::size_t>(k_));
  double most = -HUGE_VAL;
  for (Index a = 0; a < k_; ++a) {
    if (!links_.allows(i, owner_[a])) {
      r_new[a] = -HUGE_VAL;
      continue;
    }
    double x = w.prior[a];
    for (Index b = 0; b < k_; ++b) {
      x += w.none[a * k_ + b] * met.pairs_out[b] + w.link[a * k_ + b] * met.out[b];
      if (links_.directed()) x += w.none[b * k_ + a] * met.pairs_in[b] + w.link[b * k_ + a] * met.in[b];
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

void SoftBlocks::lap() {
  links_.spend(static_cast<double>(k_ * (2 * links_.n_links() + links_.n() * k_)));
  const Weights w = weights();
  Met met;
  for (Index i = 0; i < links_.n(); ++i) visit(i, w, met);
  refresh();
}

void SoftBlocks::step(const std::vector<int>& nodes, double rate) {
  const std::size_t kk = static_cast<std::size_t>(k_ * k_);
  Met met;
  Vec n_out(kk), n_in(kk), s_out(kk), s_in(kk);
  for (int i : nodes) {
    links_.poll(i);
    const double* ri = r_.data() + i * k_;
    meet(i, met);
    add_pair(n_out, ri, met.pairs_out.data(), 1, k_);
    add_pair(s_out, ri, met.out.data(), 1, k_);
    add_pair(n_in, ri, met.pairs_in.data(), 1, k_);
    add_pair(s_in, ri, met.in.data(), 1, k_);
  }
  const double scale = static_cast<double>(links_.n()) / static_cast<double>(nodes.size());
  move_towards(n_, table_of_ends(links_, n_out, n_in, k_, scale), rate);
  move_towards(s_, table_of_ends(links_, s_out, s_in, k_, scale), rate);
  const Weights w = weights();
  for (int i : nodes) visit(i, w, met);
}

SoftBlocks SoftBlocks::merged(Index a, Index b) const {
  Vec r;
  r.reserve(static_cast<std::size_t>(links_.n() * (k_ - 1)));
  for (Index i = 0; i < links_.n(); ++i)
    for (Index l = 0; l < k_; ++l)
      if (l != b) r.push_back(r_[i * k_ + l] + (l == a ? r_[i * k_ + b] : 0));
  Owners owner = owner_;
  owner[a] = owner_of_both(owner[a], owner[b]);
  owner.erase(owner.begin() + b);
  return SoftBlocks(links_, model_, gamma_, k_ - 1, std::move(r), std::move(owner));
}

void SoftBlocks::write(Writer& out) const {
  out.integer(k_);
  if (links_.labelled()) out.list(owner_);
  for (const Vec* x : {&size_, &r_, &n_, &s_}) out.list(*x);
}

void SoftBlocks::read(Reader& in) {
  k_ = in.integer();
  require_stored(k_ > 0, "number of clusters");
  owner_ = read_owners(in, links_, k_);
  size_ = read_numbers(in, k_, nearly_none, "sizes of clusters");
  r_ = read_numbers(in, links_.n() * k_, 0, "soft labels");
  for (Vec* x : {&n_, &s_}) *x = read_numbers(in, k_ * k_, nearly_none, "statistics of blocks");
}

}  // namespace bnpvi::networks
