#include "networks/gamma_network.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi::networks {

GammaNetwork::GammaNetwork(const Links& links, const GammaPriors& priors, const Shares& start)
    : Overlap(links, start.k, start.owner), priors_(priors), each_way_(links.directed() ? 2 : 1) {
  const double c = priors_.alpha;
  const Index k = start.k;
  const Vec weight = allowed_shares(links, start);
  // Nodes begin with as many ends as links, and with activities proportional to these.
  const double usual =
      std::max(1.0, 2 * static_cast<double>(links.n_links()) / static_cast<double>(std::max<Index>(n(), 1)));
  const double little = c / static_cast<double>(k + 1);
  const bool sparse = static_cast<double>(n()) * static_cast<double>(k) > priors_.dense;
  Vec given(static_cast<std::size_t>(k));
  rows_.resize(static_cast<std::size_t>(n()));
  for (Index i = 0; i < n(); ++i) {
    links.poll(i);
    double sum = 0;
    for (Index a = 0; a < k; ++a) sum += weight[i * k + a];
    const double degree = static_cast<double>(links.out().start[i + 1] - links.out().start[i] +
                                              links.in().start[i + 1] - links.in().start[i]);
    for (Index a = 0; a < k; ++a) {
      const double share = sum > 0 ? weight[i * k + a] / sum : 1 / static_cast<double>(k);
      given[a] += share;
      if (share == 0 && (sparse || !allows(i, a))) continue;
      Part part{static_cast<int>(a), degree * share, 0, 0, 0, 0, 0, 0};
      set(part, little + degree * share, c + usual, c);
      rows_[i].push_back(part);
    }
  }
  g_.communities.resize(static_cast<std::size_t>(k));
  find_nodes();
  for (Index a = 0; a < k; ++a)
    if (others(a) > 0) set_others(a, little, little / (c + usual));
  for (double& x : given) x += 1e-3;
  given.push_back(1);
  sticks_.u = sticks_from_weights(given);
  sticks_.omega.assign(static_cast<std::size_t>(k), static_cast<double>(n()) + 1 + priors_.gamma);
  own_.resize(static_cast<std::size_t>(n()));
  among_.resize(own_.size());
  tilde_.resize(own_.size());
  find_sums();
  const auto ends_in_all = [](const Row& row) {
    double sum = 0;
    for (const Part& part : row) sum += part.ends;
    return sum;
  };
  for (std::size_t e = 0; e < links.value().size(); ++e) {
    links.poll(static_cast<Index>(e));
    const Row &ri = rows_[links.from()[e]], &rj = rows_[links.to()[e]];
    const double all = ends_in_all(ri), other = ends_in_all(rj);
    double within = 0;
    for (const Part& part : ri) {
      const Part* also = part_of(rj, part.k);
      if (!also || !(all > 0 && other > 0)) continue;
      const double both = part.ends / all * (also->ends / other);
      community(part.k).counts += both * links.value()[e];
      within += both;
    }
    g_.background.counts += (1 - within) * links.value()[e];
  }
  for (Index a = 0; a < k; ++a) update_rate(a);
  update_background(weight_moments(sticks_));
  visit_links();
}

double GammaNetwork::visit_link(Index i, Index j, double y, bool to_i, bool to_j, double weight) {
  Row &ri = rows_[i], &rj = rows_[j];
  const double epsilon = g_.background.phi_tilde, background = epsilon * tilde_[i] * tilde_[j];
  double l = background;
  const auto each_common = [&](auto f) {
    auto a = ri.begin();
    auto b = rj.begin();
    while (a != ri.end() && b != rj.end()) {
      if (a->k < b->k) {
        ++a;
      } else if (b->k < a->k) {
        ++b;
      } else {
        f(*a++, *b++);
      }
    }
  };
  each_common([&](Part& a, Part& b) { l += community(a.k).phi_tilde * a.tilde * b.tilde; });
  l = std::max(l, 1e-290);
  double m = y, value;
  if (priors_.counts) {
    value = y * std::log(l) - log_gamma(y + 1);
  } else {
    const double some = -std::expm1(-l);
    m = l / some;
    value = l + std::log(some);
  }
  const double unit = m / l;
  each_common([&](Part& a, Part& b) {
    const double both = unit * community(a.k).phi_tilde * a.tilde * b.tilde;
    community(a.k).counts += weight * both;
    if (to_i) a.ends += both;
    if (to_j) b.ends += both;
  });
  const double of_i = unit * epsilon * tilde_[j], of_j = unit * epsilon * tilde_[i];
  if (to_i)
    for (Part& part : ri) part.ends += of_i * part.tilde;
  if (to_j)
    for (Part& part : rj) part.ends += of_j * part.tilde;
  g_.background.counts += weight * unit * background;
  return value;
}

void GammaNetwork::visit_links() {
  for (Row& row : rows_)
    for (Part& part : row) part.ends = 0;
  for (Community& community : g_.communities) community.counts = 0;
  g_.background.counts = 0;
  g_.links = 0;
  for (std::size_t e = 0; e < links_->value().size(); ++e) {
    links_->poll(static_cast<Index>(e));
    g_.links += visit_link(links_->from()[e], links_->to()[e], links_->value()[e], true, true, 1);
  }
  stale_ = false;
  double products = 0;
  for (Index i = 0; i < n(); ++i) products += products_of(i);
  links_->spend(products);
}

double GammaNetwork::products_of(Index i) const {
  const Index degree =
      links_->out().start[i + 1] - links_->out().start[i] + links_->in().start[i + 1] - links_->in().start[i];
  return static_cast<double>(rows_[i].size()) *
         (products_of_node_part + products_of_link_part * static_cast<double>(degree));
}

void GammaNetwork::visit_node(Index i, const WeightMoments& pi) {
  links_->poll(i);
  const double c = priors_.alpha, epsilon = g_.background.phi(), hidden = hidden_of(i);
  double hidden_all = 0;
  each_hidden(i, [&](Index j) { hidden_all += total(j); });
  const double met_all = each_way_ * (total_of_all() - total(i)) - hidden_all + pi.mean.back() * per_node(i);
  tilde_[i] = 0;
  for (Part& part : rows_[i]) {
    double met_hidden = hidden * community(part.k).mean;
    each_hidden(i, [&](Index j) { met_hidden += excess(j, part.k); });
    const double met = std::max(0.0, each_way_ * (mean_of(part.k) - part.mean) - met_hidden);
    count(i, part, -1);
    set(part, c * pi.mean[part.k] + part.ends,
        c + community(part.k).phi() * met + epsilon * std::max(0.0, met_all), c);
    count(i, part, 1);
    tilde_[i] += part.tilde;
  }
  set_own(i, own(i));
}

void GammaNetwork::update_others(Index k, const WeightMoments& pi) {
  // The bound as a function of the mean m, at the shape s = cπ_k: o (s log m − c m) − linear m − square m².
  const double o = others(k), c = priors_.alpha, s = c * pi.mean[k];
  if (o == 0) return;
  const Community& it = community(k);
  const double hidden_pairs = links_->n_hidden();
  double total_in = 0, hidden_in = 0, within = 0, met_hidden = 0, around = 0, per_node_in = 0;
  for (int i : nodes_[k]) {
    links_->poll(i);
    const double hidden = hidden_of(i), mean = it.mean;
    total_in += total(i);
    hidden_in += hidden;
    per_node_in += per_node(i);
    if (hidden == 0) continue;
    double also = 0;
    each_hidden(i, [&](Index j) {
      const bool in = part_of(rows_[j], k) != nullptr;
      also += in;
      around += total(j) - (in ? 0 : mean);
    });
    within += also;
    met_hidden += (part_of(rows_[i], k)->mean) * (hidden - also);
  }
  const double rest_of_all = total_of_all() - it.mean * o;
  const double hidden_totals = g_.totals.hidden_ends + g_.totals.others * 2 * hidden_pairs -
                               it.mean * (2 * hidden_pairs - hidden_in) - around;
  const double by_phi = each_way_ * o * it.sum - met_hidden;
  const double by_epsilon = each_way_ * (o * rest_of_all - (rest_of_all - total_in)) - hidden_totals +
                            pi.mean.back() * (2 * links_->n_pairs() - per_node_in);
  const double square = each_way_ / 2 * o * (o - 1) - (hidden_pairs - hidden_in + within / 2);
  const double phi = it.phi(), epsilon = g_.background.phi();
  const double a = o * c + std::max(0.0, phi * by_phi + epsilon * by_epsilon);
  const double b = 2 * (phi + epsilon) * std::max(0.0, square);
  set_others(k, s, 2 * o * s / (a + std::sqrt(a * a + 4 * b * o * s)));
}

void GammaNetwork::set_rate(Community& community, double shape, double rate) {
  community.phi_shape = shape;
  community.phi_rate = rate;
  community.phi_log = digamma(shape) - std::log(rate);
  community.phi_tilde = std::exp(community.phi_log);
}

void GammaNetwork::update_rate(Index k) {
  set_rate(community(k), priors_.a + community(k).counts, priors_.b + exposure(k));
}

void GammaNetwork::update_background(const WeightMoments& pi) {
  set_rate(g_.background, priors_.a_background + g_.background.counts,
           priors_.b_background + background_exposure(rest(pi)));
}

void GammaNetwork::leave_out_of_large() {
  if (static_cast<double>(n()) * static_cast<double>(k_) <= priors_.dense) return;
  const WeightMoments pi = weight_moments(sticks_);
  bool some = false;
  for (Row& row : rows_) {
    const auto last =
        std::remove_if(row.begin(), row.end(), [](const Part& part) { return part.tilde == 0; });
    some = some || last != row.end();
    row.erase(last, row.end());
  }
  if (!some) return;
  find_nodes();
  for (Index k = 0; k < k_; ++k)
    if (others(k) > 0 && community(k).mean == 0) set_others(k, priors_.alpha * pi.mean[k], pi.mean[k]);
}

void GammaNetwork::lap() {
  if (stale_) visit_links();
  const WeightMoments pi = weight_moments(sticks_);
  for (Index i = 0; i < n(); ++i) visit_node(i, pi);
  leave_out_of_large();
  find_sums();
  for (Index k = 0; k < k_; ++k) update_others(k, pi);
  for (Index k = 0; k < k_; ++k) update_rate(k);
  update_background(pi);
  update_sticks();
  update_background(weight_moments(sticks_));
  visit_links();
}

void GammaNetwork::step(const std::vector<int>& nodes, double rate) {
  for (int i : nodes)
    for (Part& part : rows_[i]) part.ends = 0;
  for (Community& it : g_.communities) it.counts = 0;
  g_.background.counts = 0;
  each_link_of(*links_, nodes, among_, [&](Index i, Index j, double y, bool of_i, bool of_j) {
    links_->poll(i + j);
    visit_link(i, j, y, of_i, of_j, (of_i + of_j) / 2.0);
  });
  double products = 0;
  for (int i : nodes) products += products_of(i);
  links_->spend(products);
  const WeightMoments pi = weight_moments(sticks_);
  const double scale = static_cast<double>(n()) / static_cast<double>(nodes.size());
  const auto move = [&](Community& it, double a, double b) {
    set_rate(it, (1 - rate) * it.phi_shape + rate * (a + scale * it.counts),
             (1 - rate) * it.phi_rate + rate * b);
  };
  for (Index k = 0; k < k_; ++k) move(community(k), priors_.a, priors_.b + exposure(k));
  move(g_.background, priors_.a_background, priors_.b_background + background_exposure(rest(pi)));
  for (int i : nodes) visit_node(i, pi);
  update_sticks();
  stale_ = true;
}

void GammaNetwork::end_steps() {
  leave_out_of_large();
  find_sums();
  const WeightMoments pi = weight_moments(sticks_);
  for (Index k = 0; k < k_; ++k) update_others(k, pi);
}

void GammaNetwork::refresh() {
  find_nodes();
  find_sums();
  visit_links();
}

Vec GammaNetwork::proportions(Index i) const {
  Vec out;
  for (const Community& it : g_.communities) out.push_back(it.mean);
  for (const Part& part : rows_[i]) out[part.k] = part.mean;
  double sum = 0;
  for (double x : out) sum += x;
  for (double& x : out) x = sum > 0 ? x / sum : 1 / static_cast<double>(k_);
  return out;
}

Vec GammaNetwork::rates() const {
  Vec out;
  for (const Community& it : g_.communities) out.push_back(it.phi());
  out.push_back(g_.background.phi());
  return out;
}

std::vector<Ends> GammaNetwork::ends(Index i) const {
  std::vector<Ends> out;
  for (const Part& part : rows_[i])
    if (part.ends > 0) out.push_back({part.k, part.ends});
  return out;
}

std::vector<Overlap::Array> GammaNetwork::arrays() const {
  Vec shape, rate, phi_shape, phi_rate;
  for (const Row& row : rows_) {
    const std::size_t at = shape.size();
    for (const Community& it : g_.communities) {
      shape.push_back(links_->labelled() ? 0 : it.shape);
      rate.push_back(it.rate);
    }
    for (const Part& part : row) {
      shape[at + part.k] = part.shape;
      rate[at + part.k] = part.rate;
    }
  }
  for (const Community& it : g_.communities) {
    phi_shape.push_back(it.phi_shape);
    phi_rate.push_back(it.phi_rate);
  }
  phi_shape.push_back(g_.background.phi_shape);
  phi_rate.push_back(g_.background.phi_rate);
  return {{"shape", k_, shape}, {"rate", k_, rate}, {"phi_shape", 1, phi_shape}, {"phi_rate", 1, phi_rate}};
}

}  // namespace bnpvi::networks
