// Changes of the list of communities.
#include "networks/relational.h"

namespace bnpvi::networks {

void Relational::split(const std::vector<Division>& divisions, double share) {
  rho_ = with_columns_divided(rho_, k_, divisions, share);
  ends_ = with_columns_divided(ends_, k_, divisions, share);
  Vec weights = weights_from_sticks(sticks_.u);
  for (const Division& division : divisions) {
    weights[division.of] /= 2;
    weights.insert(weights.end() - 1, weights[division.of]);
    sticks_.omega.push_back(sticks_.omega[division.of]);
  }
  sticks_.u = sticks_from_weights(weights);
  k_ += static_cast<Index>(divisions.size());
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
  Vec weights = weights_from_sticks(sticks_.u);
  weights.back() += weights[k];
  weights.erase(weights.begin() + k);
  sticks_.omega.erase(sticks_.omega.begin() + k);
  sticks_.u = sticks_from_weights(weights);
  --k_;
  for (Index i = 0; i < links_->n(); ++i) {
    double sum = 0;
    for (Index j = 0; j < k_; ++j) sum += rho_[i * k_ + j];
    for (Index j = 0; j < k_; ++j)
      rho_[i * k_ + j] = sum > 1e-6 ? rho_[i * k_ + j] / sum : 1 / static_cast<double>(k_);
  }
  spread_out();
  update_proportions();
}

void Relational::permute(const std::vector<Index>& order) {
  rho_ = with_columns_in_order(rho_, k_, order);
  ends_ = with_columns_in_order(ends_, k_, order);
  order_statistics(order);
  std::vector<Index> with_last = order;
  with_last.push_back(k_);
  const Vec weights = weights_from_sticks(sticks_.u);
  sticks_.u = sticks_from_weights(with_columns_in_order(weights, k_ + 1, with_last));
  update_proportions();
}

}  // namespace bnpvi::networks
