#include "networks/relational.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "networks/profile.h"

namespace bnpvi::networks {

Relational::Relational(const Links& links, const LinkModel& blocks, const LinkModel& background, double gamma,
                       double alpha, Index k, const Vec& weight)
    : Overlap(links, k),
      blocks_(&blocks),
      background_(&background),
      gamma_(gamma),
      alpha_(alpha),
      each_way_(links.directed() ? 2 : 1),
      rho_(weight) {
  const Index n = links.n();
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
  expect_from_profiles();
  sticks_ = closed_form(top_level(k, static_cast<double>(n), gamma));
  Vec given(static_cast<std::size_t>(k) + 1, 1e-3);
  for (Index a = 0; a < k; ++a) given[a] += sum_[a];
  given[k] += 1;
  sticks_.u = sticks_from_weights(given);
  spread_out();
  update_proportions();
  visit_links();
  update_statistics();
}

void Relational::expect_from_profiles() {
  q_n_.assign(static_cast<std::size_t>(k_), 0);
  q_s_.assign(static_cast<std::size_t>(k_), 0);
  for (std::size_t e = 0; e < links_->value().size(); ++e)
    for (Index k = 0; k < k_; ++k) {
      const double both = rho_[links_->from()[e] * k_ + k] * rho_[links_->to()[e] * k_ + k];
      q_n_[k] += both;
      q_s_[k] += both * links_->value()[e];
    }
  update_statistics();
}

void Relational::spread_out() {
  const std::size_t size = static_cast<std::size_t>(links_->n() * (k_ + 1));
  theta_.resize(size);
  log_pi_.resize(size);
}

Relational::Weights Relational::weights() const {
  Weights out;
  for (Index k = 0; k <= k_; ++k) {
    const LinkWeights w = (k < k_ ? blocks_ : background_)->weights(n_[k], s_[k]);
    out.none.push_back(w.none);
    out.link.push_back(w.link);
  }
  return out;
}

void Relational::sum_profiles() {
  sum_.assign(static_cast<std::size_t>(k_), 0);
  for (Index i = 0; i < links_->n(); ++i)
    for (Index k = 0; k < k_; ++k) sum_[k] += rho_[i * k_ + k];
}

void Relational::update_statistics() {
  sum_profiles();
  n_.assign(static_cast<std::size_t>(k_) + 1, 0);
  s_.assign(static_cast<std::size_t>(k_) + 1, 0);
  double all_n = 0, all_s = 0;
  Vec squares(static_cast<std::size_t>(k_)), listed(squares);
  for (Index i = 0; i < links_->n(); ++i)
    for (Index k = 0; k < k_; ++k) squares[k] += rho_[i * k_ + k] * rho_[i * k_ + k];
  const auto list = [&](const std::vector<int>& from, const std::vector<int>& to) {
    for (std::size_t p = 0; p < from.size(); ++p)
      for (Index k = 0; k < k_; ++k) listed[k] += rho_[from[p] * k_ + k] * rho_[to[p] * k_ + k];
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

void Relational::visit_links() {
  const Index n = links_->n();
  const Weights w = weights();
  // A = exp P, relative to the largest of a row, which cancels in q.
  Vec a(rho_.size()), p(rho_.size()), all(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    const double* row = log_pi_.data() + i * (k_ + 1);
    const double most = *std::max_element(row, row + k_);
    for (Index k = 0; k < k_; ++k) {
      p[i * k_ + k] = row[k] - most;
      all[i] += a[i * k_ + k] = std::exp(row[k] - most);
    }
  }
  std::fill(ends_.begin(), ends_.end(), 0.0);
  q_n_.assign(static_cast<std::size_t>(k_), 0);
  q_s_.assign(static_cast<std::size_t>(k_), 0);
  link_entropy_ = 0;
  Vec l(static_cast<std::size_t>(k_) + 1), f(l), both(static_cast<std::size_t>(k_));
  double l_most = 0, known = -1;
  for (std::size_t e = 0; e < links_->value().size(); ++e) {
    const double y = links_->value()[e];
    const Index i = links_->from()[e], j = links_->to()[e];
    if (y != known) {
      for (Index k = 0; k <= k_; ++k) l[k] = w.none[k] + w.link[k] * y;
      l_most = *std::max_element(l.begin(), l.end());
      for (Index k = 0; k <= k_; ++k) f[k] = std::exp(l[k] - l_most);
      known = y;
    }
    const double *ai = a.data() + i * k_, *aj = a.data() + j * k_;
    double within = 0, same = 0;
    for (Index k = 0; k < k_; ++k) {
      within += both[k] = ai[k] * aj[k] * f[k];
      same += ai[k] * aj[k];
    }
    double background = f[k_] * std::max(0.0, all[i] * all[j] - same), z = within + background;
    double log_z = std::log(z) + l_most;
    if (!(z > 1e-250)) {
      // No community has both ends, and the background is far less likely than some: the same in logarithms.
      const double apart = std::log(std::max(all[i] * all[j] - same, 1e-300)) + l[k_];
      double most = apart;
      for (Index k = 0; k < k_; ++k) most = std::max(most, p[i * k_ + k] + p[j * k_ + k] + l[k]);
      z = background = std::exp(apart - most);
      for (Index k = 0; k < k_; ++k) z += both[k] = std::exp(p[i * k_ + k] + p[j * k_ + k] + l[k] - most);
      log_z = std::log(z) + most;
    }
    // Given that the ends differ: s = k with probability A_ik (Ã_j − A_jk), of all that differ.
    const double unit = background / z, apart = std::max(all[i] * all[j] - same, 1e-300);
    double expected = l[k_];
    double *ei = ends_.data() + i * k_, *ej = ends_.data() + j * k_;
    for (Index k = 0; k < k_; ++k) {
      const double here = both[k] / z;
      const double s = here + unit * (ai[k] * std::max(0.0, all[j] - aj[k]) / apart);
      const double r = here + unit * (aj[k] * std::max(0.0, all[i] - ai[k]) / apart);
      q_n_[k] += here;
      q_s_[k] += here * y;
      ei[k] += s;
      ej[k] += r;
      expected += s * p[i * k_ + k] + r * p[j * k_ + k] + here * (l[k] - l[k_]);
    }
    link_entropy_ += log_z - expected;
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
  for (Index i = 0; i < links_->n(); ++i) set_proportions(i, pi);
}

void Relational::visit_nodes() {
  const Weights w = weights();
  const WeightMoments pi = weight_moments(sticks_);
  Vec gain(static_cast<std::size_t>(k_)), prior(gain), listed(gain);
  for (Index k = 0; k < k_; ++k) prior[k] = alpha_ * pi.mean[k];
  for (Index i = 0; i < links_->n(); ++i) {
    if (zeros_[i] > 0) {
      std::fill(listed.begin(), listed.end(), 0.0);
      for (const SparseRows* rows :
           {&links_->out(), &links_->in(), &links_->hidden_out(), &links_->hidden_in()})
        for (Index e = rows->start[i]; e < rows->start[i + 1]; ++e)
          for (Index k = 0; k < k_; ++k) listed[k] += rho_[rows->other[e] * k_ + k];
      for (Index k = 0; k < k_; ++k) {
        const double met = each_way_ * (sum_[k] - rho_[i * k_ + k]) - listed[k];
        gain[k] = (w.none[k] - w.none[k_]) * met / zeros_[i];
      }
      for (Index k = 0; k < k_; ++k) sum_[k] -= rho_[i * k_ + k];
      best_profile(zeros_[i], gain.data(), ends_.data() + i * k_, prior.data(), k_, rho_.data() + i * k_);
      for (Index k = 0; k < k_; ++k) sum_[k] += rho_[i * k_ + k];
    }
    set_proportions(i, pi);
  }
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
  visit_links();
  update_statistics();
  visit_nodes();
  update_statistics();
  update_sticks();
  update_proportions();
}

void Relational::hold_sticks(const HdpSticks& sticks) {
  sticks_ = sticks;
  update_proportions();
}

std::vector<std::pair<std::string, double>> Relational::terms() const {
  const double n = static_cast<double>(links_->n());
  double data = 0, base = 0, nodes = 0, entropy = link_entropy_;
  for (Index k = 0; k <= k_; ++k) data += (k < k_ ? blocks_ : background_)->evidence(n_[k], s_[k]);
  for (double y : links_->value()) base += blocks_->log_base(y);
  const WeightMoments pi = weight_moments(sticks_);
  double top =
      top_value(top_level(k_, n, gamma_), sticks_).value() + n * static_cast<double>(k_) * std::log(alpha_);
  const Index width = k_ + 1;
  for (Index i = 0; i < links_->n(); ++i) {
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
  double sum = 0;
  for (double x : out) sum += x;
  for (double& x : out) x /= sum;
  return out;
}

Vec Relational::rates() const {
  Vec out;
  for (Index k = 0; k <= k_; ++k) out.push_back((k < k_ ? blocks_ : background_)->mean(n_[k], s_[k]));
  return out;
}

std::vector<Ends> Relational::ends(Index i) const {
  std::vector<Ends> out;
  for (Index k = 0; k < k_; ++k)
    if (ends_[i * k_ + k] > 0) out.push_back({k, ends_[i * k_ + k]});
  return out;
}

std::vector<Overlap::Array> Relational::arrays() const {
  return {{"theta", k_ + 1, theta_}, {"rho", k_, rho_}, {"pairs", 1, n_}, {"sum", 1, s_}};
}

}  // namespace bnpvi::networks
