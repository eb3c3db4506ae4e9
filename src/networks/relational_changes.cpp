// Changes of the list of communities.
#include "networks/relational.h"

namespace bnpvi::networks {

void Relational::split(const std::vector<Division>& divisions, double share) {
  const std::vector<PartOwners> parts = owners_of_parts(divisions);
  rho_ = with_columns_divided(rho_, k_, divisions, share);
  ends_ = with_columns_divided(ends_, k_, divisions, share);
  Vec weights = weights_from_sticks(sticks_.u);
  for (std::size_t d = 0; d < divisions.size(); ++d) {
    const Division& division = divisions[d];
    weights[division.of] /= 2;
    weights.insert(weights.end() - 1, weights[division.of]);
    sticks_.omega.push_back(sticks_.omega[division.of]);
    owner_[division.of] = parts[d].rest;
    owner_.push_back(parts[d].leaves);
  }
  sticks_.u = sticks_from_weights(weights);
  const Index made = k_;
  k_ += static_cast<Index>(divisions.size());
  for (Vec* x : {&rho_, &ends_})
    for (Index i = 0; links_->labelled() && i < links_->n(); ++i)
      for (std::size_t d = 0; d < divisions.size(); ++d) {
        double *rest = x->data() + i * k_ + divisions[d].of, *leaves = x->data() + i * k_ + made + d;
        if (!allows(i, made + static_cast<Index>(d))) std::swap(rest, leaves);
        if (allows(i, made + static_cast<Index>(d)) && allows(i, divisions[d].of)) continue;
        *leaves += *rest;
        *rest = 0;
      }
  expect_from_profiles();
  spread_out();
  update_proportions();
}

void Relational::merge(Index a, Index b) {
  rho_ = with_columns_added(rho_, k_, a, b);
  ends_ = with_columns_added(ends_, k_, a, b);
  Vec weights = weights_from_sticks(sticks_.u);
  weights[a] += weights[b];
  weights.erase(weights.begin() + b);
  join_statistics(a, b);
  owner_[a] = owner_of_both(owner_[a], owner_[b]);
  owner_.erase(owner_.begin() + b);
  sticks_.omega.erase(sticks_.omega.begin() + b);
  sticks_.u = sticks_from_weights(weights);
  --k_;
  spread_out();
  update_proportions();
}

void Relational::drop(Index k) {
  rho_ = without_column(rho_, k_, k);
  ends_ = without_column(ends_, k_, k);
  std::vector<Index> others;
  for (Index j = 0; j < k_; ++j)
    if (j != k) others.push_back(j);
  order_statistics(others);
  owner_ = in_order(owner_, others);
  Vec weights = weights_from_sticks(sticks_.u);
  weights.back() += weights[k];
  weights.erase(weights.begin() + k);
  sticks_.omega.erase(sticks_.omega.begin() + k);
  sticks_.u = sticks_from_weights(weights);
  --k_;
  for (Index i = 0; i < links_->n(); ++i) {
    double sum = 0, in = 0;
    for (Index j = 0; j < k_; ++j) {
      sum += rho_[i * k_ + j];
      in += allows(i, j);
    }
    for (Index j = 0; j < k_; ++j)
      rho_[i * k_ + j] = sum > 1e-6 ? rho_[i * k_ + j] / sum : allows(i, j) ? 1 / in : 0;
  }
  spread_out();
  update_proportions();
}

void Relational::permute(const std::vector<Index>& order) {
  rho_ = with_columns_in_order(rho_, k_, order);
  ends_ = with_columns_in_order(ends_, k_, order);
  order_statistics(order);
  owner_ = in_order(owner_, order);
  std::vector<Index> with_last = order;
  with_last.push_back(k_);
  const Vec weights = weights_from_sticks(sticks_.u);
  sticks_.u = sticks_from_weights(with_columns_in_order(weights, k_ + 1, with_last));
  update_proportions();
}

}  // namespace bnpvi::networks
