#include "networks/general_blocks.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "networks/block_tables.h"

namespace bnpvi::networks {

GeneralBlocks::GeneralBlocks(const Links& links, const LinkModel& blocks, double gamma, double alpha,
                             const Shares& start)
    : Relational(links, blocks, gamma, alpha, start) {
  pair_blocks_ = &blocks;
  begin();
}

void GeneralBlocks::expect_from_profiles() {
  clear_links();
  for (std::size_t e = 0; e < links_->value().size(); ++e) {
    links_->poll(static_cast<Index>(e));
    const double *from = rho_.data() + links_->from()[e] * k_, *to = rho_.data() + links_->to()[e] * k_;
    add_pair(q_n_, from, to, 1, k_);
    add_pair(q_s_, from, to, links_->value()[e], k_);
  }
  update_statistics();
}

void GeneralBlocks::update_statistics() {
  sum_profiles();
  const Vec of_links = listed_table(*links_, links_->from(), links_->to(), nullptr, rho_, k_);
  const Vec hidden = listed_table(*links_, links_->hidden_from(), links_->hidden_to(), nullptr, rho_, k_);
  n_ = table_of_all(*links_, sum_, rho_, k_);
  s_.resize(n_.size());
  for (Index a = 0; a < k_; ++a)
    for (Index b = 0; b < k_; ++b) {
      const std::size_t at = static_cast<std::size_t>(a * k_ + b);
      n_[at] = std::max(0.0, n_[at] - of_links[at] - hidden[at]) + both_orders(q_n_, a, b);
      s_[at] = both_orders(q_s_, a, b);
    }
}

double GeneralBlocks::both_orders(const Vec& t, Index a, Index b) const {
  return links_->directed() || a == b ? t[a * k_ + b] : t[a * k_ + b] + t[b * k_ + a];
}

void GeneralBlocks::weigh(Vec& none, Vec& link) const {
  none.clear();
  link.clear();
  for (std::size_t at = 0; at < n_.size(); ++at) {
    const LinkWeights w = blocks_->weights(n_[at], s_[at]);
    none.push_back(w.none);
    link.push_back(w.link);
  }
}

void GeneralBlocks::visit_link(LinkWork& work, Index i, Index j, double y, bool to_i, bool to_j) {
  const std::size_t cells = static_cast<std::size_t>(k_ * k_);
  if (y != work.known) {
    work.l.resize(cells);
    work.f.resize(cells);
    work.both.resize(cells);
    for (std::size_t at = 0; at < cells; ++at) work.l[at] = work.none[at] + work.link[at] * y;
    work.l_most = *std::max_element(work.l.begin(), work.l.end());
    for (std::size_t at = 0; at < cells; ++at) work.f[at] = std::exp(work.l[at] - work.l_most);
    work.known = y;
  }
  const double *ai = work.a.data() + i * k_, *aj = work.a.data() + j * k_;
  const double *pi = work.p.data() + i * k_, *pj = work.p.data() + j * k_;
  double z = 0, log_z = 0;
  for (Index a = 0; a < k_; ++a)
    for (Index b = 0; b < k_; ++b) z += work.both[a * k_ + b] = ai[a] * aj[b] * work.f[a * k_ + b];
  if (z > 1e-250) {
    log_z = std::log(z) + work.l_most;
  } else {
    // No two communities of the ends are as likely as the likeliest block: the same in logarithms.
    double most = -HUGE_VAL;
    for (Index a = 0; a < k_; ++a)
      for (Index b = 0; b < k_; ++b) most = std::max(most, pi[a] + pj[b] + work.l[a * k_ + b]);
    z = 0;
    for (Index a = 0; a < k_; ++a)
      for (Index b = 0; b < k_; ++b)
        z += work.both[a * k_ + b] = std::exp(pi[a] + pj[b] + work.l[a * k_ + b] - most);
    log_z = std::log(z) + most;
  }
  const double share = part(to_i, to_j);
  double expected = 0;
  for (Index a = 0; a < k_; ++a)
    for (Index b = 0; b < k_; ++b) {
      const std::size_t at = static_cast<std::size_t>(a * k_ + b);
      const double q = work.both[at] / z;
      q_n_[at] += share * q;
      q_s_[at] += share * q * y;
      put_ends(i, a, q, to_i);
      put_ends(j, b, q, to_j);
      expected += q * (pi[a] + pj[b] + work.l[at]);
    }
  link_entropy_ += share * (log_z - expected);
}

void GeneralBlocks::meet(Index i, double* out, double* in) const {
  std::fill_n(out, k_, 0.0);
  std::fill_n(in, k_, 0.0);
  sum_listed(links_->out(), links_->hidden_out(), i, out);
  sum_listed(links_->in(), links_->hidden_in(), i, in);
  for (Index k = 0; k < k_; ++k) {
    const double others = sum_[k] - rho_[i * k_ + k];
    out[k] = std::max(0.0, others - out[k]);
    in[k] = links_->directed() ? std::max(0.0, others - in[k]) : 0;
  }
}

void GeneralBlocks::gains(Index i, const Vec& none, double* gain) const {
  Vec out(static_cast<std::size_t>(k_)), in(out);
  meet(i, out.data(), in.data());
  for (Index a = 0; a < k_; ++a) {
    double sum = 0;
    for (Index b = 0; b < k_; ++b) sum += none[a * k_ + b] * out[b] + none[b * k_ + a] * in[b];
    gain[a] = sum / zeros_[i];
  }
}

void GeneralBlocks::move_statistics(const std::vector<int>& nodes, double rate) {
  Vec out(static_cast<std::size_t>(k_)), in(out), all_out(n_.size()), all_in(n_.size());
  for (int i : nodes) {
    links_->poll(i);
    const double* rho = rho_.data() + i * k_;
    meet(i, out.data(), in.data());
    add_pair(all_out, rho, out.data(), 1, k_);
    add_pair(all_in, rho, in.data(), 1, k_);
  }
  const double scale = static_cast<double>(links_->n()) / static_cast<double>(nodes.size());
  Vec n = table_of_ends(*links_, all_out, all_in, k_, scale), s(n.size());
  for (Index a = 0; a < k_; ++a)
    for (Index b = 0; b < k_; ++b) {
      n[a * k_ + b] += scale * both_orders(q_n_, a, b);
      s[a * k_ + b] = scale * both_orders(q_s_, a, b);
    }
  move_towards(n_, n, rate);
  move_towards(s_, s, rate);
}

double GeneralBlocks::evidence() const {
  double sum = 0;
  for (Index a = 0; a < k_; ++a)
    for (Index b = links_->directed() ? 0 : a; b < k_; ++b)
      sum += blocks_->evidence(n_[a * k_ + b], s_[a * k_ + b]);
  return sum;
}

Vec GeneralBlocks::rates() const {
  Vec out;
  double n = 0, s = 0;
  for (Index a = 0; a < k_; ++a) {
    out.push_back(blocks_->mean(n_[a * k_ + a], s_[a * k_ + a]));
    for (Index b = links_->directed() ? 0 : a + 1; b < k_; ++b) {
      n += a == b ? 0 : n_[a * k_ + b];
      s += a == b ? 0 : s_[a * k_ + b];
    }
  }
  out.push_back(blocks_->mean(n, s));
  return out;
}

void GeneralBlocks::join_statistics(Index a, Index b) {
  for (Vec* x : {&n_, &s_}) *x = table_joined(*x, k_, a, b, links_->directed());
  for (Vec* x : {&q_n_, &q_s_}) *x = table_joined(*x, k_, a, b, true);
}

void GeneralBlocks::order_statistics(const std::vector<Index>& order) {
  for (Vec* x : {&n_, &s_, &q_n_, &q_s_}) *x = table_in_order(*x, k_, order);
}

std::vector<Overlap::Array> GeneralBlocks::statistics() const { return {{"pairs", k_, n_}, {"sum", k_, s_}}; }

}  // namespace bnpvi::networks
