// Changes of the list of communities.
#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "networks/gamma_network.h"

namespace bnpvi::networks {

void GammaNetwork::split(const std::vector<Division>& divisions, double share) {
  const Index more = static_cast<Index>(divisions.size()), k = k_ + more;
  // What is left of a membership: about as much as the prior has.
  const double little = priors_.alpha / static_cast<double>(k + 1);
  const Vec shape = with_columns_divided(shape_, k_, divisions, share, little);
  Vec rate = with_columns_divided(rate_, k_, divisions, 1, 0);
  for (Index i = 0; i < links_->n(); ++i)
    for (Index s = 0; s < more; ++s)
      rate[i * k + divisions[s].of] = rate[i * k + k_ + s] = rate_[i * k_ + divisions[s].of];
  ends_ = with_columns_divided(ends_, k_, divisions, share, 0);
  Vec weights = weights_from_sticks(sticks_.u);
  for (const Division& division : divisions) {
    for (Vec* x : {&counts_, &phi_shape_, &phi_rate_, &phi_log_}) x->insert(x->end() - 1, (*x)[division.of]);
    weights[division.of] /= 2;
    weights.insert(weights.end() - 1, weights[division.of]);
    sticks_.omega.push_back(sticks_.omega[division.of]);
  }
  sticks_.u = sticks_from_weights(weights);
  k_ = k;
  for (Vec* x : {&shape_, &rate_, &mean_, &log_}) x->resize(shape.size());
  for (Index i = 0; i < links_->n(); ++i)
    for (Index j = 0; j < k_; ++j)
      set_node(i, j, shape[i * k_ + j], rate[i * k_ + j], digamma(shape[i * k_ + j]));
  sum_nodes();
}

void GammaNetwork::merge(Index a, Index b) {
  // Means add up; the larger shape says how certain they are.
  Vec shape = with_columns_added(shape_, k_, a, b), mean = with_columns_added(mean_, k_, a, b);
  ends_ = with_columns_added(ends_, k_, a, b);
  counts_[a] += counts_[b];
  const double added_a = exposure(a), added_b = exposure(b);
  const double rate = (phi_shape_[a] / phi_rate_[a] * added_a + phi_shape_[b] / phi_rate_[b] * added_b) /
                      std::max(added_a + added_b, 1e-300);
  phi_shape_[a] += phi_shape_[b] - priors_.a;
  phi_rate_[a] = added_a + added_b > 0 ? phi_shape_[a] / rate : phi_rate_[a];
  phi_log_[a] = digamma(phi_shape_[a]) - std::log(phi_rate_[a]);
  Vec weights = weights_from_sticks(sticks_.u);
  weights[a] += weights[b];
  weights.erase(weights.begin() + b);
  for (Vec* x : {&counts_, &phi_shape_, &phi_rate_, &phi_log_}) x->erase(x->begin() + b);
  sticks_.omega.erase(sticks_.omega.begin() + b);
  sticks_.u = sticks_from_weights(weights);
  --k_;
  for (Vec* x : {&shape_, &rate_, &mean_, &log_}) x->resize(shape.size());
  for (Index i = 0; i < links_->n(); ++i)
    for (Index j = 0; j < k_; ++j) {
      const std::size_t at = static_cast<std::size_t>(i * k_ + j);
      set_node(i, j, shape[at], shape[at] / std::max(mean[at], 1e-300), digamma(shape[at]));
    }
  sum_nodes();
}

void GammaNetwork::drop(Index k) {
  const Vec shape = without_column(shape_, k_, k), rate = without_column(rate_, k_, k);
  ends_ = without_column(ends_, k_, k);
  Vec weights = weights_from_sticks(sticks_.u);
  weights.back() += weights[k];
  weights.erase(weights.begin() + k);
  for (Vec* x : {&counts_, &phi_shape_, &phi_rate_, &phi_log_}) x->erase(x->begin() + k);
  sticks_.omega.erase(sticks_.omega.begin() + k);
  sticks_.u = sticks_from_weights(weights);
  --k_;
  for (Vec* x : {&shape_, &rate_, &mean_, &log_}) x->resize(shape.size());
  for (Index i = 0; i < links_->n(); ++i)
    for (Index j = 0; j < k_; ++j)
      set_node(i, j, shape[i * k_ + j], rate[i * k_ + j], digamma(shape[i * k_ + j]));
  sum_nodes();
}

void GammaNetwork::permute(const std::vector<Index>& order) {
  for (Vec* x : {&shape_, &rate_, &mean_, &log_, &ends_}) *x = with_columns_in_order(*x, k_, order);
  std::vector<Index> with_background = order;
  with_background.push_back(k_);
  for (Vec* x : {&counts_, &phi_shape_, &phi_rate_, &phi_log_})
    *x = with_columns_in_order(*x, k_ + 1, with_background);
  const Vec weights = weights_from_sticks(sticks_.u);
  sticks_.u = sticks_from_weights(with_columns_in_order(weights, k_ + 1, with_background));
  sum_nodes();
}

}  // namespace bnpvi::networks
