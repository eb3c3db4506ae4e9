#include "networks/relational.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "networks/network_fit.h"
#include "networks/profile.h"

namespace bnpvi::networks {

Relational::Relational(const Links& links, const LinkModel& blocks, double gamma, double alpha,
                       const Shares& start)
    : Overlap(links, start.k, start.owner),
      blocks_(&blocks),
      gamma_(gamma),
      alpha_(alpha),
      each_way_(links.directed() ? 2 : 1),
      rho_(allowed_shares(links, start)) {
  const Index n = links.n(), k = start.k;
  const auto entries = [](const SparseRows& rows, Index i) {
    return static_cast<double>(rows.start[i + 1] - rows.start[i]);
  };
  for (Index i = 0; i < n; ++i) {
    zeros_.push_back(each_way_ * static_cast<double>(n - 1) - entries(links.out(), i) -
                     entries(links.in(), i) - entries(links.hidden_out(), i) - entries(links.hidden_in(), i));
    double sum = 0;
    for (Index a = 0; a < k; ++a) sum += rho_[i * k + a];
    for (Index a = 0; a < k; ++a)
      rho_[i * k + a] = sum > 0 ? rho_[i * k + a] / sum : 1 / static_cast<double>(k);
  }
  ends_ = rho_;
  for (Index i = 0; i < n; ++i)
    for (Index a = 0; a < k; ++a) ends_[i * k + a] *= entries(links.out(), i) + entries(links.in(), i);
}

void Relational::begin() {
  expect_from_profiles();
  sticks_ = closed_form(top_level(k_, static_cast<double>(links_->n()), gamma_));
  Vec given(static_cast<std::size_t>(k_) + 1, 1e-3);
  for (Index a = 0; a < k_; ++a) given[a] += sum_[a];
  given[k_] += 1;
  sticks_.u = sticks_from_weights(given);
  spread_out();
  update_proportions();
  visit_links();
  update_statistics();
}

void Relational::spread_out() {
  const std::size_t size = static_cast<std::size_t>(links_->n() * (k_ + 1));
  theta_.resize(size);
  log_pi_.resize(size);
}

void Relational::clear_links() {
  q_n_.assign(static_cast<std::size_t>(n_blocks()), 0);
  q_s_.assign(q_n_.size(), 0);
  link_entropy_ = 0;
}

void Relational::sum_profiles() {
  sum_.assign(static_cast<std::size_t>(k_), 0);
  for (Index i = 0; i < links_->n(); ++i)
    for (Index k = 0; k < k_; ++k) sum_[k] += rho_[i * k_ + k];
}

void Relational::prepare(LinkWork& work, Index i) const {
  constexpr double never = -1e300;  // times 0 it is 0
  const double* row = log_pi_.data() + i * (k_ + 1);
  double most = never;
  for (Index k = 0; k < k_; ++k)
    if (allows(i, k)) most = std::max(most, row[k]);
  work.all[i] = 0;
  for (Index k = 0; k < k_; ++k) {
    if (!allows(i, k)) {
      work.p[i * k_ + k] = never;
      work.a[i * k_ + k] = 0;
      continue;
    }
    work.p[i * k_ + k] = row[k] - most;
    work.all[i] += work.a[i * k_ + k] = std::exp(row[k] - most);
  }
}

void Relational::visit_links() {
  const Index n = links_->n();
  LinkWork work;
  weigh(work.none, work.link);
  work.a.resize(rho_.size());
  work.p.resize(rho_.size());
  work.all.resize(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    links_->poll(i);
    prepare(work, i);
  }
  std::fill(ends_.begin(), ends_.end(), 0.0);
  clear_links();
  for (std::size_t e = 0; e < links_->value().size(); ++e) {
    links_->poll(static_cast<Index>(e));
    visit_link(work, links_->from()[e], links_->to()[e], links_->value()[e], true, true);
  }
}

void Relational::set_proportions(Index i, const WeightMoments& pi) {
  const Index width = k_ + 1;
  double sum = 0;
  for (Index k = 0; k < width; ++k) {
    double& theta = theta_[i * width + k];
    theta = alpha_ * pi.mean[k];
    if (k < k_) theta += ends_[i * k_ + k] + zeros_[i] * rho_[i * k_ + k];
    sum += theta;
  }
  const double of_sum = digamma(sum);
  for (Index k = 0; k < width; ++k) log_pi_[i * width + k] = digamma(theta_[i * width + k]) - of_sum;
}

void Relational::update_proportions() {
  const WeightMoments pi = weight_moments(sticks_);
  for (Index i = 0; i < links_->n(); ++i) {
    links_->poll(i);
    set_proportions(i, pi);
  }
}

void Relational::sum_listed(const SparseRows& links, const SparseRows& hidden, Index i, double* sum) const {
  for (const SparseRows* rows : {&links, &hidden})
    for (Index e = rows->start[i]; e < rows->start[i + 1]; ++e)
      for (Index k = 0; k < k_; ++k) sum[k] += rho_[rows->other[e] * k_ + k];
}

void Relational::visit_node(Index i, const WeightMoments& pi, const Vec& none, Vec& scratch) {
  links_->poll(i);
  if (zeros_[i] > 0) {
    Vec gain(static_cast<std::size_t>(k_));
    gains(i, none, gain.data());
    double* rho = rho_.data() + i * k_;
    for (Index k = 0; k < k_; ++k) sum_[k] -= rho[k];
    choose_profile(i, pi, gain.data(), scratch);
    for (Index k = 0; k < k_; ++k) sum_[k] += rho[k];
  }
  set_proportions(i, pi);
}

// Chooses the profile over the communities that the node may be in, which are stored side by side in
// `scratch`.
void Relational::choose_profile(Index i, const WeightMoments& pi, const double* gain, Vec& scratch) {
  std::vector<Index> in;
  for (Index k = 0; k < k_; ++k)
    if (allows(i, k)) in.push_back(k);
  const std::size_t size = in.size();
  scratch.resize(4 * size);
  double *g = scratch.data(), *ends = g + size, *prior = ends + size, *rho = prior + size;
  for (std::size_t at = 0; at < size; ++at) {
    g[at] = gain[in[at]];
    ends[at] = ends_[i * k_ + in[at]];
    prior[at] = alpha_ * pi.mean[in[at]];
    rho[at] = rho_[i * k_ + in[at]];
  }
  best_profile(zeros_[i], g, ends, prior, static_cast<Index>(size), rho);
  for (std::size_t at = 0; at < size; ++at) rho_[i * k_ + in[at]] = rho[at];
}

void Relational::visit_nodes() {
  Vec none, link, scratch;
  weigh(none, link);
  const WeightMoments pi = weight_moments(sticks_);
  for (Index i = 0; i < links_->n(); ++i) visit_node(i, pi, none, scratch);
}

void Relational::update_sticks() {
  const TopLevel top = top_level(k_, static_cast<double>(links_->n()), gamma_);
  Vec logs(static_cast<std::size_t>(k_) + 1);
  for (Index i = 0; i < links_->n(); ++i)
    for (Index k = 0; k <= k_; ++k) logs[k] += log_pi_[i * (k_ + 1) + k];
  const WeightFunction f = [&](const WeightMoments& pi, WeightMoments* gradient) {
    RoundedSum sum;
    for (Index k = 0; k <= k_; ++k) {
      sum.add(alpha_ * pi.mean[k] * logs[k]);
      if (gradient) gradient->mean[k] += alpha_ * logs[k];
    }
    return sum;
  };
  sticks_ = maximise_sticks(top, f, sticks_);
}

void Relational::lap() {
  constexpr double evaluations = 10;  // of a profile's parts, for that of a community in a node; measured
  links_->spend(evaluations * products_of_node_part * static_cast<double>(links_->n() * k_) +
                products_of_link_part * static_cast<double>(links_->n_links() * n_blocks()));
  visit_links();
  update_statistics();
  visit_nodes();
  update_statistics();
  update_sticks();
  update_proportions();
}

void Relational::refresh() {
  update_statistics();
  update_proportions();
}

void Relational::hold_sticks(const HdpSticks& sticks) {
  sticks_ = sticks;
  update_proportions();
}

void Relational::step(const std::vector<int>& nodes, double rate) {
  LinkWork work;
  weigh(work.none, work.link);
  work.a.resize(rho_.size());
  work.p.resize(rho_.size());
  work.all.assign(static_cast<std::size_t>(links_->n()), -1);
  const auto ready = [&](Index i) {
    if (work.all[i] < 0) prepare(work, i);
  };
  clear_links();
  for (int i : nodes) std::fill_n(ends_.begin() + i * k_, k_, 0.0);
  std::vector<char> among(static_cast<std::size_t>(links_->n()));
  each_link_of(*links_, nodes, among, [&](Index i, Index j, double y, bool of_i, bool of_j) {
    links_->poll(i + j);
    ready(i);
    ready(j);
    visit_link(work, i, j, y, of_i, of_j);
  });
  move_statistics(nodes, rate);
  Vec none, link, scratch;
  weigh(none, link);
  const WeightMoments pi = weight_moments(sticks_);
  for (int i : nodes) visit_node(i, pi, none, scratch);
  update_sticks();
}

std::vector<std::pair<std::string, double>> Relational::terms() const {
  const double n = static_cast<double>(links_->n());
  double data = evidence(), base = 0, nodes = 0, entropy = link_entropy_;
  for (double y : links_->value()) base += blocks_->log_base(y);
  const WeightMoments pi = weight_moments(sticks_);
  double top =
      top_value(top_level(k_, n, gamma_), sticks_).value() + n * static_cast<double>(k_) * std::log(alpha_);
  const Index width = k_ + 1;
  for (Index i = 0; i < links_->n(); ++i) {
    links_->poll(i);
    double sum = 0;
    for (Index k = 0; k < width; ++k) {
      const double theta = theta_[i * width + k], log = log_pi_[i * width + k];
      const double r = k < k_ ? rho_[i * k_ + k] : 0;
      const double count = k < k_ ? ends_[i * k_ + k] + zeros_[i] * r : 0;
      sum += theta;
      nodes += log_gamma(theta) + (count - theta) * log;
      top += alpha_ * pi.mean[k] * log;
      entropy -= zeros_[i] * x_log_x(r);
    }
    nodes -= log_gamma(sum);
  }
  return {{"data", data}, {"base", base}, {"nodes", nodes}, {"top_level", top}, {"entropy", entropy}};
}

Vec Relational::proportions(Index i) const {
  const double* theta = theta_.data() + i * (k_ + 1);
  Vec out(theta, theta + k_);
  for (Index k = 0; k < k_; ++k)
    if (!allows(i, k)) out[k] = 0;
  double sum = 0;
  for (double x : out) sum += x;
  for (double& x : out) x /= sum;
  return out;
}

std::vector<Ends> Relational::ends(Index i) const {
  std::vector<Ends> out;
  for (Index k = 0; k < k_; ++k)
    if (ends_[i * k_ + k] > 0) out.push_back({k, ends_[i * k_ + k]});
  return out;
}

void Relational::write(Writer& out) const {
  Overlap::write(out);
  for (const Vec* x : {&rho_, &ends_, &theta_, &log_pi_, &sum_, &q_n_, &q_s_, &n_, &s_}) out.list(*x);
  out.number(link_entropy_);
}

void Relational::read(Reader& in) {
  Overlap::read(in);
  const Index n = links_->n();
  for (Vec* x : {&rho_, &ends_}) *x = read_numbers(in, n * k_, 0, "memberships");
  theta_ = read_numbers(in, n * (k_ + 1), above_none, "proportions");
  log_pi_ = read_numbers(in, n * (k_ + 1), any, "proportions");
  sum_ = read_numbers(in, k_, nearly_none, "memberships");
  for (Vec* x : {&q_n_, &q_s_, &n_, &s_})
    *x = read_numbers(in, n_blocks(), nearly_none, "statistics of blocks");
  link_entropy_ = in.number();
}

std::vector<Overlap::Array> Relational::arrays() const {
  std::vector<Array> out = statistics();
  Vec theta = theta_;  // given where the nodes are: in none of the communities beyond K
  for (Index i = 0; links_->labelled() && i < links_->n(); ++i) {
    double* row = theta.data() + i * (k_ + 1);
    for (Index k = 0; k < k_; ++k)
      if (!allows(i, k)) row[k] = row[k_] = 0;
  }
  out.insert(out.begin(), {{"theta", k_ + 1, theta}, {"rho", k_, rho_}});
  return out;
}

}  // namespace bnpvi::networks
