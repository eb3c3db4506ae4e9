// Changes of the list of communities.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "foundation/special.h"
#include "networks/gamma_network.h"

namespace bnpvi::networks {

void GammaNetwork::divide(Row& row, Index of, Index to, double share, double little, double c) {
  Part* old = part_of(row, of);
  Part more = *old;
  more.k = static_cast<int>(to);
  more.ends *= share;
  old->ends *= 1 - share;
  set(more, share * old->shape + little, old->rate, c);
  set(*old, (1 - share) * old->shape + little, old->rate, c);
  row.insert(std::find_if(row.begin(), row.end(), [&](const Part& part) { return part.k > to; }), more);
}

void GammaNetwork::divide_part(Index i, const Division& division, Index made, double share, double little) {
  if (!allows(i, made)) return;
  const bool leaves = std::binary_search(division.leaves.begin(), division.leaves.end(), i);
  divide(rows_[i], division.of, made, leaves ? share : 1 - share, little, priors_.alpha);
  if (allows(i, division.of)) return;
  Part* all = part_of(rows_[i], made);
  const Part rest = *part_of(rows_[i], division.of);
  all->ends += rest.ends;
  set(*all, all->shape + rest.shape, all->rate, priors_.alpha);
  remove(rows_[i], division.of);
}

void GammaNetwork::leave_out_disallowed(Index k) {
  std::vector<int>& nodes = nodes_[k];
  if (links_->labelled())
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](int i) { return !allows(i, k); }),
                nodes.end());
}

void GammaNetwork::join(Row& row, Index a, Index b) const {
  Part* one = part_of(row, a);
  Part* two = part_of(row, b);
  const auto filled = [&](Part* part, Index k) {
    const Community& it = community(k);
    // Where all that may be in a community have a part there this node has nothing in it.
    if (!part && others(k) == 0) return Part{static_cast<int>(a), 0, 0, 1, 0, 0, 0, 0};
    return part ? *part : Part{static_cast<int>(a), 0, it.shape, it.rate, it.mean, it.log, 0, 0};
  };
  if (!one && !two) return;
  Part both = filled(one, a);
  const Part other = filled(two, b);
  // The means are added; the shapes, too, so that the sum is at least as certain as either.
  both.ends += other.ends;
  const double shape = both.shape + other.shape, mean = both.mean + other.mean;
  set(both, shape, shape / std::max(mean, 1e-300), priors_.alpha);
  if (one) {
    *one = both;
    if (two) remove(row, b);
  } else {
    remove(row, b);
    const auto at = std::find_if(row.begin(), row.end(), [&](const Part& part) { return part.k > a; });
    row.insert(at, both);
  }
}

void GammaNetwork::remove(Row& row, Index k) {
  row.erase(std::remove_if(row.begin(), row.end(), [&](const Part& part) { return part.k == k; }), row.end());
}

void GammaNetwork::renumber(Row& row, const std::vector<Index>& number) {
  for (Part& part : row) part.k = static_cast<int>(number[part.k]);
  remove(row, -1);
  std::sort(row.begin(), row.end(), [](const Part& a, const Part& b) { return a.k < b.k; });
}

void GammaNetwork::halve(Index k) {
  Community& it = community(k);
  it.shape /= 2;
  it.mean /= 2;
  it.log = digamma(it.shape) - std::log(it.rate);
  const Community other = it;
  g_.communities.push_back(other);
  nodes_.push_back(nodes_[k]);
}

void GammaNetwork::add_others(Index a, Index b) {
  Community &one = community(a), &two = community(b);
  if (two.mean == 0) return;
  if (one.mean == 0) {
    one.shape = two.shape;
    one.mean = two.mean;
  } else {
    one.shape += two.shape;
    one.mean += two.mean;
  }
  one.rate = one.shape / one.mean;
  one.log = digamma(one.shape) - std::log(one.rate);
}

void GammaNetwork::split(const std::vector<Division>& divisions, double share) {
  const Index k = k_ + static_cast<Index>(divisions.size());
  // Shape that each part keeps at least: about as much as the prior has.
  const double little = priors_.alpha / static_cast<double>(k + 1);
  Vec weights = weights_from_sticks(sticks_.u);
  const std::vector<PartOwners> parts = owners_of_parts(divisions);
  for (std::size_t d = 0; d < divisions.size(); ++d) {
    const Division& division = divisions[d];
    owner_[division.of] = parts[d].rest;
    owner_.push_back(parts[d].leaves);
    for (int i : nodes_[division.of]) divide_part(i, division, k_, share, little);
    halve(division.of);
    leave_out_disallowed(division.of);
    leave_out_disallowed(k_);
    weights[division.of] /= 2;
    weights.insert(weights.end() - 1, weights[division.of]);
    sticks_.omega.push_back(sticks_.omega[division.of]);
    ++k_;
  }
  sticks_.u = sticks_from_weights(weights);
  leave_out_of_large();
  find_sums();
}

void GammaNetwork::merge(Index a, Index b) {
  Community &one = community(a), &two = community(b);
  const double added_a = exposure(a), added_b = exposure(b);
  const double rate = (one.phi() * added_a + two.phi() * added_b) / std::max(added_a + added_b, 1e-300);
  one.counts += two.counts;
  const double shape = one.phi_shape + two.phi_shape - priors_.a;
  set_rate(one, shape, added_a + added_b > 0 ? shape / rate : one.phi_rate);
  for (Row& row : rows_) join(row, a, b);
  add_others(a, b);
  owner_[a] = owner_of_both(owner_[a], owner_[b]);
  Vec weights = weights_from_sticks(sticks_.u);
  weights[a] += weights[b];
  weights[b] = 0;
  std::vector<Index> order;
  for (Index k = 0; k < k_; ++k)
    if (k != b) order.push_back(k);
  keep(order, weights);
}

void GammaNetwork::drop(Index k) {
  Vec weights = weights_from_sticks(sticks_.u);
  weights.back() += weights[k];
  std::vector<Index> order;
  for (Index a = 0; a < k_; ++a)
    if (a != k) order.push_back(a);
  keep(order, weights);
}

void GammaNetwork::permute(const std::vector<Index>& order) { keep(order, weights_from_sticks(sticks_.u)); }

void GammaNetwork::keep(const std::vector<Index>& order, const Vec& weights) {
  std::vector<Index> number(static_cast<std::size_t>(k_), -1);
  Vec kept, omega;
  std::vector<Community> communities;
  for (Index k : order) {
    number[k] = static_cast<Index>(kept.size());
    kept.push_back(weights[k]);
    omega.push_back(sticks_.omega[k]);
    communities.push_back(community(k));
  }
  kept.push_back(weights.back());
  sticks_.omega = omega;
  sticks_.u = sticks_from_weights(kept);
  g_.communities = std::move(communities);
  owner_ = in_order(owner_, order);
  for (Row& row : rows_) renumber(row, number);
  k_ = static_cast<Index>(order.size());
  find_nodes();
  find_sums();
}

}  // namespace bnpvi::networks
