#include "networks/gamma_network.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi::networks {

namespace {

// Of a membership whose exp(E log t) is less, links take no notice: q of their counts leaves it out.
constexpr double least_membership = 1e-40;

// f of the last argument is remembered: shapes of memberships without link ends are the same for all nodes.
template <double (*f)(double)>
class Remembered {
 public:
  double operator()(double x) {
    if (x != argument_) {
      argument_ = x;
      value_ = f(x);
    }
    return value_;
  }

 private:
  double argument_ = NAN, value_ = NAN;
};

// E log p(x) + entropy for x ~ Gamma(a, b) under q = Gamma(shape, rate).
double minus_divergence(double a, double b, double shape, double rate, double log) {
  const double mean = shape / rate;
  return a * std::log(b) - log_gamma(a) + (a - shape) * log + (rate - b) * mean - shape * std::log(rate) +
         log_gamma(shape);
}

}  // namespace

GammaNetwork::GammaNetwork(const Links& links, const GammaPriors& priors, Index k, const Vec& weight)
    : Overlap(links, k), priors_(priors), pairs_each_way_(links.directed() ? 2 : 1) {
  const Index n = links.n();
  const double c = priors_.alpha;
  for (Vec* x : {&shape_, &rate_, &mean_, &log_}) x->resize(static_cast<std::size_t>(n * k));
  ends_.resize(static_cast<std::size_t>(n * k));
  // Nodes begin with as many ends as they have links, and with an activity in proportion.
  const double usual =
      std::max(1.0, 2 * static_cast<double>(links.n_links()) / static_cast<double>(std::max<Index>(n, 1)));
  Vec given(static_cast<std::size_t>(k));
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index a = 0; a < k; ++a) sum += weight[i * k + a];
    const double degree = static_cast<double>(links.out().start[i + 1] - links.out().start[i] +
                                              links.in().start[i + 1] - links.in().start[i]);
    for (Index a = 0; a < k; ++a) {
      const double share = sum > 0 ? weight[i * k + a] / sum : 1 / static_cast<double>(k);
      ends_[i * k + a] = degree * share;
      given[a] += share;
      const double shape = c / static_cast<double>(k + 1) + degree * share;
      set_node(i, a, shape, c + usual, digamma(shape));
    }
  }
  given.push_back(1);
  for (double& x : given) x += 1e-3;
  sticks_.u = sticks_from_weights(given);
  for (Index a = 0; a < k; ++a) sticks_.omega.push_back(static_cast<double>(n) + 1 + priors_.gamma);
  sum_nodes();
  counts_.assign(static_cast<std::size_t>(k) + 1, 0);
  for (std::size_t e = 0; e < links.value().size(); ++e) {
    const double *ri = ends_.data() + links.from()[e] * k, *rj = ends_.data() + links.to()[e] * k;
    double within = 0, all = 0;
    for (Index a = 0; a < k; ++a) all += ri[a];
    double other = 0;
    for (Index a = 0; a < k; ++a) other += rj[a];
    for (Index a = 0; a < k; ++a) {
      const double part = all > 0 && other > 0 ? ri[a] / all * (rj[a] / other) : 0;
      counts_[a] += part * links.value()[e];
      within += part;
    }
    counts_[k] += (1 - within) * links.value()[e];
  }
  phi_shape_.resize(counts_.size());
  phi_rate_.resize(counts_.size());
  phi_log_.resize(counts_.size());
  update_rates();
  visit_links();
}

void GammaNetwork::set_node(Index i, Index k, double shape, double rate, double digamma_of_shape) {
  const std::size_t at = static_cast<std::size_t>(i * k_ + k);
  shape_[at] = shape;
  rate_[at] = rate;
  mean_[at] = shape / rate;
  log_[at] = digamma_of_shape - std::log(rate);
}

void GammaNetwork::sum_nodes() {
  const Index n = links_->n();
  total_.assign(static_cast<std::size_t>(n), 0);
  sum_.assign(static_cast<std::size_t>(k_), 0);
  all_ = 0;
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < k_; ++k) {
      total_[i] += mean_[i * k_ + k];
      sum_[k] += mean_[i * k_ + k];
    }
  for (double t : total_) all_ += t;
}

double GammaNetwork::per_node(Index i) const {
  const auto hidden = [&](const SparseRows& rows) {
    return static_cast<double>(rows.start[i + 1] - rows.start[i]);
  };
  return pairs_each_way_ * static_cast<double>(links_->n() - 1) - hidden(links_->hidden_out()) -
         hidden(links_->hidden_in());
}

double GammaNetwork::exposure(Index k) const {
  double squares = 0, hidden = 0;
  for (Index i = 0; i < links_->n(); ++i) squares += mean_[i * k_ + k] * mean_[i * k_ + k];
  for (std::size_t p = 0; p < links_->hidden_from().size(); ++p)
    hidden += mean_[links_->hidden_from()[p] * k_ + k] * mean_[links_->hidden_to()[p] * k_ + k];
  return std::max(0.0, pairs_each_way_ / 2 * (sum_[k] * sum_[k] - squares) - hidden);
}

GammaNetwork::Rest GammaNetwork::rest(const WeightMoments& pi) const {
  // α / c = 1: the mean of a node's weight beyond K is that of the sticks' remainder.
  const double mean = pi.mean.back();
  return {mean, mean * mean + pi.variance.back()};
}

double GammaNetwork::background_exposure(const Rest& rest) const {
  double squares = 0, hidden = 0, ends = 0;
  for (Index i = 0; i < links_->n(); ++i) {
    squares += total_[i] * total_[i];
    ends += total_[i] * per_node(i);
  }
  for (std::size_t p = 0; p < links_->hidden_from().size(); ++p)
    hidden += total_[links_->hidden_from()[p]] * total_[links_->hidden_to()[p]];
  return std::max(0.0, pairs_each_way_ / 2 * (all_ * all_ - squares) - hidden) + rest.mean * ends +
         rest.square * links_->n_pairs();
}

void GammaNetwork::visit_links() {
  const Index n = links_->n();
  Vec tilde(log_.size()), all(static_cast<std::size_t>(n)), phi(static_cast<std::size_t>(k_) + 1);
  std::vector<int> used;  // memberships of node 0 that are not left out, of node 1, ...
  std::vector<std::size_t> starts{0};
  const double least_log = std::log(least_membership);
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < k_; ++k) {
      if (log_[i * k_ + k] < least_log) continue;
      all[i] += tilde[i * k_ + k] = std::exp(log_[i * k_ + k]);
      used.push_back(static_cast<int>(k));
    }
    starts.push_back(used.size());
  }
  for (Index k = 0; k <= k_; ++k) phi[k] = std::exp(phi_log_[k]);
  Vec ends(ends_.size());
  counts_.assign(phi.size(), 0);
  double value = 0;
  for (std::size_t e = 0; e < links_->value().size(); ++e) {
    const Index i = links_->from()[e], j = links_->to()[e];
    const double *ti = tilde.data() + i * k_, *tj = tilde.data() + j * k_;
    const double y = links_->value()[e], background = phi[k_] * all[i] * all[j];
    double l = background;
    for (std::size_t u = starts[i]; u < starts[i + 1]; ++u) l += phi[used[u]] * ti[used[u]] * tj[used[u]];
    l = std::max(l, 1e-290);
    double m = y;
    if (priors_.counts) {
      value += y * std::log(l) - log_gamma(y + 1);
    } else {
      const double some = -std::expm1(-l);
      m = l / some;
      value += l + std::log(some);
    }
    const double unit = m / l, of_i = unit * phi[k_] * all[j], of_j = unit * phi[k_] * all[i];
    double *ei = ends.data() + i * k_, *ej = ends.data() + j * k_;
    for (std::size_t u = starts[i]; u < starts[i + 1]; ++u) {
      const int k = used[u];
      const double both = unit * phi[k] * ti[k] * tj[k];
      counts_[k] += both;
      ei[k] += both + of_i * ti[k];
    }
    for (std::size_t u = starts[j]; u < starts[j + 1]; ++u) {
      const int k = used[u];
      ej[k] += unit * phi[k] * ti[k] * tj[k] + of_j * tj[k];
    }
    counts_[k_] += unit * background;
  }
  for (std::size_t j = 0; j < ends.size(); ++j) value -= ends[j] > 0 ? ends[j] * log_[j] : 0;
  for (Index k = 0; k <= k_; ++k) value -= counts_[k] * phi_log_[k];
  links_value_ = value;
  ends_ = std::move(ends);
}

void GammaNetwork::visit_nodes() {
  const WeightMoments pi = weight_moments(sticks_);
  const double c = priors_.alpha, beyond = rest(pi).mean, epsilon = phi_shape_[k_] / phi_rate_[k_];
  Vec hidden(static_cast<std::size_t>(k_));
  std::vector<Remembered<digamma>> digamma_of(static_cast<std::size_t>(k_));
  for (Index i = 0; i < links_->n(); ++i) {
    std::fill(hidden.begin(), hidden.end(), 0.0);
    double hidden_all = 0;
    for (const SparseRows* rows : {&links_->hidden_out(), &links_->hidden_in()})
      for (Index h = rows->start[i]; h < rows->start[i + 1]; ++h) {
        for (Index k = 0; k < k_; ++k) hidden[k] += mean_[rows->other[h] * k_ + k];
        hidden_all += total_[rows->other[h]];
      }
    const double others = pairs_each_way_ * (all_ - total_[i]) - hidden_all + beyond * per_node(i);
    double total = 0;
    for (Index k = 0; k < k_; ++k) {
      const double before = mean_[i * k_ + k];
      const double met = std::max(0.0, pairs_each_way_ * (sum_[k] - before) - hidden[k]);
      const double shape = c * pi.mean[k] + ends_[i * k_ + k];
      set_node(i, k, shape, c + phi_shape_[k] / phi_rate_[k] * met + epsilon * std::max(0.0, others),
               digamma_of[k](shape));
      sum_[k] += mean_[i * k_ + k] - before;
      total += mean_[i * k_ + k];
    }
    all_ += total - total_[i];
    total_[i] = total;
  }
  sum_nodes();
}

void GammaNetwork::update_rates() {
  for (Index k = 0; k <= k_; ++k) {
    const bool is_background = k == k_;
    phi_shape_[k] = (is_background ? priors_.a_background : priors_.a) + counts_[k];
    phi_rate_[k] = is_background ? priors_.b_background + background_exposure(rest(weight_moments(sticks_)))
                                 : priors_.b + exposure(k);
    phi_log_[k] = digamma(phi_shape_[k]) - std::log(phi_rate_[k]);
  }
}

namespace {

TopLevel top_of(Index k, double n, double gamma) {
  TopLevel top{gamma, n + 1, Vec(static_cast<std::size_t>(k))};
  for (Index j = 0; j < k; ++j) top.c0[j] = n * static_cast<double>(k - 1 - j) + gamma;
  return top;
}

}  // namespace

void GammaNetwork::update_sticks() {
  const double n = static_cast<double>(links_->n()), c = priors_.alpha;
  Vec logs(static_cast<std::size_t>(k_), n * std::log(c));
  for (Index i = 0; i < links_->n(); ++i)
    for (Index k = 0; k < k_; ++k) logs[k] += log_[i * k_ + k];
  double ends = 0;
  for (Index i = 0; i < links_->n(); ++i) ends += total_[i] * per_node(i);
  const double epsilon = phi_shape_[k_] / phi_rate_[k_], pairs = links_->n_pairs();
  const double by_square = pairs * (epsilon + priors_.a / priors_.b / (1 + priors_.gamma));
  const WeightFunction f = [&](const WeightMoments& pi, WeightMoments* gradient) {
    RoundedSum sum;
    for (Index k = 0; k < k_; ++k) {
      sum.add(priors_.alpha * pi.mean[k] * logs[k]);
      if (gradient) gradient->mean[k] += priors_.alpha * logs[k];
    }
    const Rest beyond = rest(pi);
    sum.add(-epsilon * ends * beyond.mean);
    sum.add(-by_square * beyond.square);
    if (gradient) {
      gradient->mean[k_] -= epsilon * ends + 2 * by_square * beyond.mean;
      gradient->variance[k_] -= by_square;
    }
    return sum;
  };
  sticks_ = maximise_sticks(top_of(k_, n, priors_.gamma), f, sticks_);
}

void GammaNetwork::lap() {
  visit_nodes();
  update_rates();
  update_sticks();
  update_rates();
  visit_links();
}

std::vector<std::pair<std::string, double>> GammaNetwork::terms() const {
  const double n = static_cast<double>(links_->n()), c = priors_.alpha;
  const WeightMoments pi = weight_moments(sticks_);
  const Rest beyond = rest(pi);
  double data = links_value_, nodes = 0, rates = 0;
  for (Index k = 0; k <= k_; ++k) {
    data += counts_[k] * phi_log_[k];
    const double mean = phi_shape_[k] / phi_rate_[k];
    data -= mean * (k < k_ ? exposure(k) : background_exposure(beyond));
    const bool is_background = k == k_;
    rates += minus_divergence(is_background ? priors_.a_background : priors_.a,
                              is_background ? priors_.b_background : priors_.b, phi_shape_[k], phi_rate_[k],
                              phi_log_[k]);
  }
  data -= links_->n_pairs() * priors_.a / priors_.b * beyond.square / (1 + priors_.gamma);
  double top = top_value(top_of(k_, n, priors_.gamma), sticks_).value() +
               n * static_cast<double>(k_) * std::log(priors_.alpha);
  for (Index k = 0; k < k_; ++k) top += priors_.alpha * pi.mean[k] * n * std::log(c);
  std::vector<Remembered<log_gamma>> log_gamma_of(static_cast<std::size_t>(k_));
  for (Index i = 0; i < links_->n(); ++i)
    for (Index k = 0; k < k_; ++k) {
      const std::size_t at = static_cast<std::size_t>(i * k_ + k);
      if (ends_[at] > 0) data += ends_[at] * log_[at];
      nodes += (rate_[at] - c) * mean_[at] - shape_[at] * std::log(rate_[at]) + log_gamma_of[k](shape_[at]) -
               shape_[at] * log_[at];
      top += priors_.alpha * pi.mean[k] * log_[at];
    }
  return {{"data", data}, {"nodes", nodes}, {"rates", rates}, {"top_level", top}};
}

Vec GammaNetwork::proportions(Index i) const {
  Vec out(mean_.begin() + i * k_, mean_.begin() + (i + 1) * k_);
  double sum = 0;
  for (double x : out) sum += x;
  for (double& x : out) x = sum > 0 ? x / sum : 1 / static_cast<double>(k_);
  return out;
}

Vec GammaNetwork::rates() const {
  Vec out;
  for (Index k = 0; k <= k_; ++k) out.push_back(phi_shape_[k] / phi_rate_[k]);
  return out;
}

std::vector<Overlap::Array> GammaNetwork::arrays() const {
  return {
      {"shape", k_, shape_}, {"rate", k_, rate_}, {"phi_shape", 1, phi_shape_}, {"phi_rate", 1, phi_rate_}};
}

}  // namespace bnpvi::networks
