#include "networks/assortative_blocks.h"

#include <algorithm>
#include <cmath>

#include "networks/block_tables.h"

namespace bnpvi::networks {

namespace {

// Σ_{l≠k} x_l for K numbers ≥ 0 with sum `all`; exact: without loss of digits even if x_k is nearly the whole
// sum.
class Others {
 public:
  Others(const double* x, Index k, double all, bool exact) : x_(x), all_(all) {
    if (!exact) return;
    largest_ = std::max_element(x, x + k) - x;
    for (Index l = 0; l < k; ++l)
      if (l != largest_) rest_ += x[l];
  }
  double of(Index k) const { return k == largest_ ? rest_ : std::max(0.0, all_ - x_[k]); }

 private:
  const double* x_;
  double all_, rest_ = 0;
  Index largest_ = -1;
};

}  // namespace

AssortativeBlocks::AssortativeBlocks(const Links& links, const LinkModel& blocks, const LinkModel& background,
                                     double gamma, double alpha, const Shares& start)
    : Relational(links, blocks, gamma, alpha, start), background_(&background) {
  begin();
}

void AssortativeBlocks::expect_from_profiles() {
  clear_links();
  for (std::size_t e = 0; e < links_->value().size(); ++e) {
    links_->poll(static_cast<Index>(e));
    for (Index k = 0; k < k_; ++k) {
      const double both = rho_[links_->from()[e] * k_ + k] * rho_[links_->to()[e] * k_ + k];
      q_n_[k] += both;
      q_s_[k] += both * links_->value()[e];
    }
  }
  update_statistics();
}

void AssortativeBlocks::weigh(Vec& none, Vec& link) const {
  none.clear();
  link.clear();
  for (Index k = 0; k <= k_; ++k) {
    const LinkWeights w = (k < k_ ? blocks_ : background_)->weights(n_[k], s_[k]);
    none.push_back(w.none);
    link.push_back(w.link);
  }
}

void AssortativeBlocks::update_statistics() {
  sum_profiles();
  n_.assign(static_cast<std::size_t>(k_) + 1, 0);
  s_.assign(static_cast<std::size_t>(k_) + 1, 0);
  double all_n = 0, all_s = 0;
  Vec squares(static_cast<std::size_t>(k_)), listed(squares);
  for (Index i = 0; i < links_->n(); ++i)
    for (Index k = 0; k < k_; ++k) squares[k] += rho_[i * k_ + k] * rho_[i * k_ + k];
  const auto list = [&](const std::vector<int>& from, const std::vector<int>& to) {
    for (std::size_t p = 0; p < from.size(); ++p) {
      links_->poll(static_cast<Index>(p));
      for (Index k = 0; k < k_; ++k) listed[k] += rho_[from[p] * k_ + k] * rho_[to[p] * k_ + k];
    }
  };
  list(links_->from(), links_->to());
  list(links_->hidden_from(), links_->hidden_to());
  for (Index k = 0; k < k_; ++k) {
    const double zeros = each_way_ / 2 * (sum_[k] * sum_[k] - squares[k]) - listed[k];
    n_[k] = std::max(0.0, zeros) + q_n_[k];
    s_[k] = q_s_[k];
    all_n += n_[k];
    all_s += s_[k];
  }
  n_[k_] = std::max(0.0, links_->n_pairs() - all_n);
  s_[k_] = std::max(0.0, links_->total() - all_s);
}

void AssortativeBlocks::visit_link(LinkWork& work, Index i, Index j, double y, bool to_i, bool to_j) {
  Vec &l = work.l, &f = work.f, &both = work.both;
  if (y != work.known) {
    l.resize(static_cast<std::size_t>(k_) + 1);
    f.resize(l.size());
    both.resize(static_cast<std::size_t>(k_));
    for (Index k = 0; k <= k_; ++k) l[k] = work.none[k] + work.link[k] * y;
    work.l_most = *std::max_element(l.begin(), l.end());
    for (Index k = 0; k <= k_; ++k) f[k] = std::exp(l[k] - work.l_most);
    work.known = y;
  }
  const Vec& p = work.p;
  const double all_i = work.all[i], all_j = work.all[j], share = part(to_i, to_j);
  const double *ai = work.a.data() + i * k_, *aj = work.a.data() + j * k_;
  double within = 0, same = 0;
  for (Index k = 0; k < k_; ++k) {
    within += both[k] = ai[k] * aj[k] * f[k];
    same += ai[k] * aj[k];
  }
  double differ = all_i * all_j - same;  // mass of pairs with different ends, in the units of `same`
  const bool cancels = differ < 1e-9 * (all_i * all_j);
  const Others of_i(ai, k_, all_i, cancels), of_j(aj, k_, all_j, cancels);
  if (cancels) {
    differ = 0;
    for (Index k = 0; k < k_; ++k) differ += ai[k] * of_j.of(k);
  }
  double background = f[k_] * differ, z = within + background;
  double log_z = std::log(z) + work.l_most;
  if (!(z > 1e-250)) {
    // No community has both ends, and the background is far less likely than some: the same in logarithms.
    const double apart =
        links_->labelled() && differ == 0 ? -HUGE_VAL : std::log(std::max(differ, 1e-300)) + l[k_];
    double most = apart;
    for (Index k = 0; k < k_; ++k) most = std::max(most, p[i * k_ + k] + p[j * k_ + k] + l[k]);
    z = background = std::exp(apart - most);
    for (Index k = 0; k < k_; ++k) z += both[k] = std::exp(p[i * k_ + k] + p[j * k_ + k] + l[k] - most);
    log_z = std::log(z) + most;
  }
  // Given that the ends differ, s = k has probability A_ik (Ã_j − A_jk) divided by its sum over k.
  const double unit = background / z, apart = std::max(differ, 1e-300);
  double expected = l[k_], within_all = 0;
  for (Index k = 0; k < k_; ++k) {
    const double here = both[k] / z;
    const double s = here + unit * (ai[k] * of_j.of(k) / apart);
    const double r = here + unit * (aj[k] * of_i.of(k) / apart);
    q_n_[k] += share * here;
    q_s_[k] += share * here * y;
    within_all += here;
    put_ends(i, k, s, to_i);
    put_ends(j, k, r, to_j);
    expected += s * p[i * k_ + k] + r * p[j * k_ + k] + here * (l[k] - l[k_]);
  }
  q_n_[k_] += share * std::max(0.0, 1 - within_all);
  q_s_[k_] += share * std::max(0.0, 1 - within_all) * y;
  link_entropy_ += share * (log_z - expected);
}

void AssortativeBlocks::meet(Index i, double* met) const {
  Vec listed(static_cast<std::size_t>(k_));
  sum_listed(links_->out(), links_->hidden_out(), i, listed.data());
  sum_listed(links_->in(), links_->hidden_in(), i, listed.data());
  for (Index k = 0; k < k_; ++k) met[k] = each_way_ * (sum_[k] - rho_[i * k_ + k]) - listed[k];
}

void AssortativeBlocks::gains(Index i, const Vec& none, double* gain) const {
  meet(i, gain);
  for (Index k = 0; k < k_; ++k) gain[k] = (none[k] - none[k_]) * gain[k] / zeros_[i];
}

void AssortativeBlocks::move_statistics(const std::vector<int>& nodes, double rate) {
  Vec met(static_cast<std::size_t>(k_)), n = q_n_, s = q_s_;
  for (int i : nodes) {
    links_->poll(i);
    meet(i, met.data());
    double within = 0;
    for (Index k = 0; k < k_; ++k) {
      const double both = rho_[i * k_ + k] * std::max(0.0, met[k]);
      within += both;
      n[k] += both / 2;
    }
    n[k_] += std::max(0.0, zeros_[i] - within) / 2;
  }
  const double scale = static_cast<double>(links_->n()) / static_cast<double>(nodes.size());
  for (Vec* x : {&n, &s})
    for (double& value : *x) value *= scale;
  move_towards(n_, n, rate);
  move_towards(s_, s, rate);
}

double AssortativeBlocks::evidence() const {
  double sum = 0;
  for (Index k = 0; k <= k_; ++k) sum += (k < k_ ? blocks_ : background_)->evidence(n_[k], s_[k]);
  return sum;
}

Vec AssortativeBlocks::rates() const {
  Vec out;
  for (Index k = 0; k <= k_; ++k) out.push_back((k < k_ ? blocks_ : background_)->mean(n_[k], s_[k]));
  return out;
}

void AssortativeBlocks::join_statistics(Index a, Index b) {
  for (Vec* x : {&n_, &s_, &q_n_, &q_s_}) {
    (*x)[a] += (*x)[b];
    x->erase(x->begin() + b);
  }
}

void AssortativeBlocks::order_statistics(const std::vector<Index>& order) {
  std::vector<Index> with_last = order;
  with_last.push_back(k_);
  for (Vec* x : {&n_, &s_, &q_n_, &q_s_}) *x = with_columns_in_order(*x, k_ + 1, with_last);
}

std::vector<Overlap::Array> AssortativeBlocks::statistics() const {
  return {{"pairs", 1, n_}, {"sum", 1, s_}};
}

}  // namespace bnpvi::networks
