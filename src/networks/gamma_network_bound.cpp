// Sums over nodes and pairs, the bound, and the sticks, which depend on all of them.
#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "networks/gamma_network.h"

namespace bnpvi::networks {

namespace {

// Memberships with a smaller exp(E log t) are left out of q of the links' counts, and never return.
constexpr double least_log = -27.6;  // log of 1e-12

// The entropy of t ~ Gamma(shape, rate) plus the terms of the prior Gamma(απ, rate c) other than απ E log t.
double term_of(double shape, double rate, double mean, double log, double c) {
  return (rate - c) * mean - shape * std::log(rate) + log_gamma(shape) - shape * log;
}

// E log p(x) + entropy for x ~ Gamma(a, b) under q = Gamma(shape, rate).
double minus_divergence(double a, double b, double shape, double rate, double log) {
  const double mean = shape / rate;
  return a * std::log(b) - log_gamma(a) + (a - shape) * log + (rate - b) * mean - shape * std::log(rate) +
         log_gamma(shape);
}

}  // namespace

// The terms of the top level: Σ over nodes of log π_k over the communities that the node may be in.
TopLevel GammaNetwork::top() const {
  TopLevel top{priors_.gamma, Vec(static_cast<std::size_t>(k_)), Vec(static_cast<std::size_t>(k_))};
  double later = 0;
  for (Index k = k_ - 1; k >= 0; --k) {
    top.c1[k] = may_be_in(k) + 1;
    top.c0[k] = later + priors_.gamma;
    later += may_be_in(k);
  }
  return top;
}

const GammaNetwork::Part* GammaNetwork::part_of(const Row& row, Index k) {
  const auto at =
      std::lower_bound(row.begin(), row.end(), k, [](const Part& part, Index to) { return part.k < to; });
  return at != row.end() && at->k == k ? &*at : nullptr;
}

void GammaNetwork::set(Part& part, double shape, double rate, double c) {
  part.shape = shape;
  part.rate = rate;
  part.mean = shape / rate;
  part.log = digamma(shape) - std::log(rate);
  part.tilde = part.log < least_log ? 0 : std::exp(part.log);
  part.term = term_of(shape, rate, part.mean, part.log, c);
}

double GammaNetwork::hidden_of(Index i) const {
  const auto entries = [&](const SparseRows& rows) {
    return static_cast<double>(rows.start[i + 1] - rows.start[i]);
  };
  return entries(links_->hidden_out()) + entries(links_->hidden_in());
}

double GammaNetwork::excess(Index j, Index k) const {
  const Part* part = part_of(rows_[j], k);
  return part ? part->mean - community(k).mean : 0;
}

void GammaNetwork::count(Index i, const Part& part, double sign) {
  Community& it = community(part.k);
  it.sum += sign * part.mean;
  it.squares += sign * part.mean * part.mean;
  it.logs += sign * part.log;
  it.terms += sign * part.term;
  const double more = sign * (part.mean - it.mean);
  it.hidden_ends += more * hidden_of(i);
  each_hidden(i, [&](Index j) { it.hidden += more * excess(j, part.k); });
}

double GammaNetwork::own(Index i) const {
  double sum = 0;
  for (const Part& part : rows_[i]) sum += part.mean - community(part.k).mean;
  return sum;
}

void GammaNetwork::set_own(Index i, double own) {
  Totals& t = g_.totals;
  const double more = own - own_[i];
  t.sum += more;
  t.squares += own * own - own_[i] * own_[i];
  t.hidden_ends += more * hidden_of(i);
  each_hidden(i, [&](Index j) { t.hidden += more * own_[j]; });
  own_[i] = own;
}

void GammaNetwork::set_others(Index k, double shape, double mean) {
  Community& it = community(k);
  const double more = mean - it.mean;
  it.shape = shape;
  it.mean = mean;
  it.rate = shape / mean;
  it.log = digamma(shape) - std::log(it.rate);
  g_.totals.others += more;
  if (own_.empty()) return;  // the sums are yet to be found
  for (int i : nodes_[k]) {
    links_->poll(i);
    set_own(i, own_[i] - more);
  }
  if (links_->n_hidden() > 0) find_sums_of(k);
}

void GammaNetwork::find_nodes() {
  nodes_.assign(static_cast<std::size_t>(k_), {});
  for (std::size_t i = 0; i < rows_.size(); ++i)
    for (const Part& part : rows_[i]) nodes_[part.k].push_back(static_cast<int>(i));
}

void GammaNetwork::find_sums_of(Index k) {
  Community& it = community(k);
  it.sum = it.squares = it.logs = it.terms = it.hidden_ends = it.hidden = 0;
  if (others(k) == 0) it.mean = 0;
  for (int i : nodes_[k]) {
    links_->poll(i);
    count(i, *part_of(rows_[i], k), 1);
  }
  it.hidden /= 2;  // every pair was met from both ends
}

void GammaNetwork::find_sums() {
  g_.totals = Totals();
  for (Index k = 0; k < k_; ++k) {
    find_sums_of(k);
    g_.totals.others += community(k).mean;
  }
  std::fill(own_.begin(), own_.end(), 0.0);
  for (Index i = 0; i < n(); ++i) {
    links_->poll(i);
    set_own(i, own(i));
    tilde_[i] = 0;
    for (const Part& part : rows_[i]) tilde_[i] += part.tilde;
  }
}

double GammaNetwork::exposure(Index k) const {
  const Community& it = community(k);
  const double sum = mean_of(k), squares = it.squares + others(k) * it.mean * it.mean;
  const double hidden = links_->n_hidden() * it.mean * it.mean + it.mean * it.hidden_ends + it.hidden;
  return std::max(0.0, each_way_ / 2 * (sum * sum - squares) - hidden);
}

GammaNetwork::Rest GammaNetwork::rest(const WeightMoments& pi) {
  // As α / c = 1, the mean of a node's t summed over communities after K is the weight of the sticks'
  // remainder.
  const double mean = pi.mean.back();
  return {mean, mean * mean + pi.variance.back()};
}

double GammaNetwork::ends_of_totals() const {
  const Totals& t = g_.totals;
  return each_way_ * static_cast<double>(n() - 1) * t.sum - t.hidden_ends + t.others * 2 * links_->n_pairs();
}

double GammaNetwork::background_exposure(const Rest& rest) const {
  const Totals& t = g_.totals;
  const double sum = total_of_all();
  const double squares = t.squares + t.others * (2 * t.sum + static_cast<double>(n()) * t.others);
  const double hidden = links_->n_hidden() * t.others * t.others + t.others * t.hidden_ends + t.hidden;
  return std::max(0.0, each_way_ / 2 * (sum * sum - squares) - hidden) + rest.mean * ends_of_totals() +
         rest.square * links_->n_pairs();
}

void GammaNetwork::update_sticks() {
  // The nodes without a part keep their mean m, and have the shape s = απ_k that is best for any π: their
  // terms and απ_k E log t are s + s log m − s log s + log Γ(s) − cm.
  const double alpha = priors_.alpha, c = priors_.alpha;
  const double ends = ends_of_totals(), epsilon = g_.background.phi(), pairs = links_->n_pairs();
  const double by_square = pairs * (epsilon + priors_.a / priors_.b / (1 + priors_.gamma));
  const WeightFunction f = [&](const WeightMoments& pi, WeightMoments* gradient) {
    RoundedSum sum;
    for (Index k = 0; k < k_; ++k) {
      const Community& it = community(k);
      const double logs = it.logs + may_be_in(k) * std::log(c), o = others(k);
      sum.add(alpha * pi.mean[k] * logs);
      if (gradient) gradient->mean[k] += alpha * logs;
      if (o == 0) continue;
      const double s = alpha * pi.mean[k], log_ratio = std::log(it.mean / s);
      sum.add(o * (s + s * log_ratio + log_gamma(s)));
      if (gradient) gradient->mean[k] += alpha * o * (log_ratio + digamma(s));
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
  sticks_ = maximise_sticks(top(), f, sticks_);
  const WeightMoments pi = weight_moments(sticks_);
  for (Index k = 0; k < k_; ++k) {
    Community& it = community(k);
    if (others(k) == 0) continue;
    it.shape = alpha * pi.mean[k];
    it.rate = it.shape / it.mean;
    it.log = digamma(it.shape) - std::log(it.rate);
  }
}

std::vector<std::pair<std::string, double>> GammaNetwork::terms() const {
  const double c = priors_.alpha;
  const WeightMoments pi = weight_moments(sticks_);
  const Rest beyond = rest(pi);
  double data = g_.links, nodes = 0, rates = 0;
  double parts = 0;
  for (Index k = 0; k < k_; ++k) parts += may_be_in(k);
  double sticks = top_value(top(), sticks_).value() + parts * std::log(priors_.alpha);
  for (Index k = 0; k < k_; ++k) {
    const Community& it = community(k);
    data -= it.phi() * exposure(k);
    rates += minus_divergence(priors_.a, priors_.b, it.phi_shape, it.phi_rate, it.phi_log);
    nodes += it.terms;
    double logs = it.logs;
    if (const double o = others(k); o > 0) {
      nodes += o * term_of(it.shape, it.rate, it.mean, it.log, c);
      logs += o * it.log;
    }
    sticks += priors_.alpha * pi.mean[k] * (logs + may_be_in(k) * std::log(c));
  }
  const Community& background = g_.background;
  data -= background.phi() * background_exposure(beyond);
  rates += minus_divergence(priors_.a_background, priors_.b_background, background.phi_shape,
                            background.phi_rate, background.phi_log);
  data -= links_->n_pairs() * priors_.a / priors_.b * beyond.square / (1 + priors_.gamma);
  return {{"data", data}, {"nodes", nodes}, {"rates", rates}, {"top_level", sticks}};
}

}  // namespace bnpvi::networks
