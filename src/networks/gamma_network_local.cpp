// Changes of single communities, accepted or refused by their nodes and links alone.
#include <algorithm>
#include <iterator>

#include "networks/gamma_network.h"

namespace bnpvi::networks {

namespace {

constexpr Index laps_of_split = 8, laps_of_merge = 3, laps_of_drop = 4;  // guesses

std::vector<int> either(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

}  // namespace

GammaNetwork::Undo GammaNetwork::remember(std::vector<Index> communities) const {
  Undo undo;
  undo.globals = g_;
  undo.sticks = sticks_;
  undo.k = k_;
  undo.owner = owner_;
  undo.bound = bound();
  undo.stale = stale_;
  for (Index k : communities) {
    undo.nodes_of.emplace_back(k, nodes_[k]);
    undo.nodes = either(undo.nodes, nodes_[k]);
  }
  for (int i : undo.nodes) {
    undo.rows.push_back(rows_[i]);
    undo.own.push_back(own_[i]);
    undo.tilde.push_back(tilde_[i]);
  }
  return undo;
}

double GammaNetwork::gained(const Undo& undo, double least) {
  const double gain = bound() - undo.bound;
  if (gain > least) {
    stale_ = true;
    return gain;
  }
  g_ = undo.globals;
  sticks_ = undo.sticks;
  k_ = undo.k;
  owner_ = undo.owner;
  stale_ = undo.stale;
  nodes_.resize(static_cast<std::size_t>(k_));
  for (const auto& [k, nodes] : undo.nodes_of) nodes_[k] = nodes;
  for (std::size_t at = 0; at < undo.nodes.size(); ++at) {
    rows_[undo.nodes[at]] = undo.rows[at];
    own_[undo.nodes[at]] = undo.own[at];
    tilde_[undo.nodes[at]] = undo.tilde[at];
  }
  return 0;
}

double GammaNetwork::visit_links_of(const std::vector<int>& nodes) {
  double sum = 0, products = 0;
  for (int i : nodes) {
    for (Part& part : rows_[i]) part.ends = 0;
    products += products_of(i);
  }
  links_->spend(products);
  each_link_of(*links_, nodes, among_, [&](Index i, Index j, double y, bool of_i, bool of_j) {
    sum += visit_link(i, j, y, of_i, of_j, 1);
  });
  return sum;
}

void GammaNetwork::find_sums_among(const std::vector<int>& nodes, const std::vector<Index>& communities) {
  for (Index k : communities) find_sums_of(k);
  g_.totals.others = 0;
  for (const Community& it : g_.communities) g_.totals.others += it.mean;
  for (int i : nodes) {
    set_own(i, own(i));
    tilde_[i] = 0;
    for (const Part& part : rows_[i]) tilde_[i] += part.tilde;
  }
}

void GammaNetwork::settle(const std::vector<int>& nodes, const std::vector<Index>& open, Index laps) {
  const WeightMoments pi = weight_moments(sticks_);
  for (Index lap = 0; lap < laps; ++lap) {
    for (Index k : open) community(k).counts = 0;
    visit_links_of(nodes);
    for (int i : nodes) visit_node(i, pi);
    for (Index k : open) {
      update_others(k, pi);
      update_rate(k);
    }
  }
}

void GammaNetwork::make_last(Index k) {
  const Index last = k_ - 1;
  if (k == last) return;
  std::vector<Index> number(static_cast<std::size_t>(k_));
  for (Index a = 0; a < k_; ++a) number[a] = a == k ? last : a == last ? k : a;
  for (int i : either(nodes_[k], nodes_[last])) renumber(rows_[i], number);
  std::swap(nodes_[k], nodes_[last]);
  std::swap(community(k), community(last));
  std::swap(owner_[k], owner_[last]);
  std::swap(sticks_.omega[k], sticks_.omega[last]);
  Vec weights = weights_from_sticks(sticks_.u);
  std::swap(weights[k], weights[last]);
  sticks_.u = sticks_from_weights(weights);
}

void GammaNetwork::without_last(const Vec& weights) {
  Vec kept = weights;
  kept.erase(kept.end() - 2);
  sticks_.u = sticks_from_weights(kept);
  sticks_.omega.pop_back();
  g_.communities.pop_back();
  nodes_.pop_back();
  owner_.pop_back();
  --k_;
}

double GammaNetwork::split_here(const Division& division, double share, double least) {
  const Index of = division.of, made = k_;
  const std::vector<int> nodes = nodes_[of];
  const Undo undo = remember({of});
  const double links = visit_links_of(nodes);
  const double little = priors_.alpha / static_cast<double>(k_ + 2);
  const PartOwners parts = owners_of_parts({division}).front();
  owner_[of] = parts.rest;
  owner_.push_back(parts.leaves);
  for (int i : nodes) divide_part(i, division, made, share, little);
  halve(of);
  leave_out_disallowed(of);
  leave_out_disallowed(made);
  Vec weights = weights_from_sticks(sticks_.u);
  weights[of] /= 2;
  weights.insert(weights.end() - 1, weights[of]);
  sticks_.u = sticks_from_weights(weights);
  sticks_.omega.push_back((static_cast<double>(n()) + 1) / sticks_.u.back());
  ++k_;
  find_sums_among(nodes, {of, made});
  settle(nodes, {of, made}, laps_of_split);
  g_.links += visit_links_of(nodes) - links;
  return gained(undo, least);
}

double GammaNetwork::merge_here(Index a, Index b, double least) {
  const Undo undo = remember({a, b, k_ - 1});
  const std::vector<int> nodes = either(nodes_[a], nodes_[b]);
  const double links = visit_links_of(nodes);
  make_last(b);
  if (a == k_ - 1) a = b;
  const Index last = k_ - 1;
  for (int i : nodes) join(rows_[i], a, last);
  add_others(a, last);
  owner_[a] = owner_of_both(owner_[a], owner_[last]);
  nodes_[a] = nodes;
  set_rate(community(a), community(a).phi_shape + community(last).phi_shape,
           community(a).phi_rate + community(last).phi_rate);
  Vec weights = weights_from_sticks(sticks_.u);
  weights[a] += weights[last];
  without_last(weights);
  find_sums_among(nodes, {a});
  settle(nodes, {a}, laps_of_merge);
  g_.links += visit_links_of(nodes) - links;
  return gained(undo, least);
}

double GammaNetwork::divide_here(Index a, Index b, const std::vector<int>& leaves, double share,
                                 double least) {
  const Undo undo = remember({a, b});
  const std::vector<int> nodes = either(nodes_[a], nodes_[b]);
  const double links = visit_links_of(nodes);
  const double little = priors_.alpha / static_cast<double>(k_ + 1);
  for (int i : nodes) {
    join(rows_[i], a, b);
    const bool leaves_a = std::binary_search(leaves.begin(), leaves.end(), i);
    divide(rows_[i], a, b, leaves_a ? share : 1 - share, little, priors_.alpha);
  }
  nodes_[a] = nodes_[b] = nodes;
  find_sums_among(nodes, {a, b});
  settle(nodes, {a, b}, laps_of_split);
  g_.links += visit_links_of(nodes) - links;
  return gained(undo, least);
}

double GammaNetwork::drop_here(Index k, double least) {
  const Undo undo = remember({k, k_ - 1});
  const std::vector<int> nodes = nodes_[k];
  const double links = visit_links_of(nodes);
  make_last(k);
  for (int i : nodes) remove(rows_[i], k_ - 1);
  Vec weights = weights_from_sticks(sticks_.u);
  weights.back() += weights[k_ - 1];
  without_last(weights);
  find_sums_among(nodes, {});
  settle(nodes, {}, laps_of_drop);
  g_.links += visit_links_of(nodes) - links;
  return gained(undo, least);
}

}  // namespace bnpvi::networks
