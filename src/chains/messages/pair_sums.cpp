#include "chains/messages/pair_sums.h"

#include <Eigen/Core>
#include <utility>

#include "kernels/kernels.h"

namespace bnpvi::chains {

namespace {

constexpr Index most_kept = 16;  // rows of a position that are kept for one product: a guess

// Rows of a few numbers are copied quicker this way than by a call of memmove().
using Row = Eigen::Map<Eigen::ArrayXd>;
using ConstRow = Eigen::Map<const Eigen::ArrayXd>;

}  // namespace

void PairSums::add(Index n, const int* position, const double* from, const double* to) {
  const Index k = chain_->k;
  if (!position || chain_->positions() == 1)
    return kernels().add_product_tn(n, k, k, from, k, to, k, sums_.data(), k);
  n_kept_.resize(static_cast<std::size_t>(chain_->positions()));
  kept_.resize(n_kept_.size() * static_cast<std::size_t>(2 * most_kept * k));
  for (Index t = 0; t < n; ++t) {
    Index& kept = n_kept_[position[t]];
    double* const rows = kept_.data() + position[t] * 2 * most_kept * k;
    Row(rows + kept * k, k) = ConstRow(from + t * k, k);
    Row(rows + (most_kept + kept) * k, k) = ConstRow(to + t * k, k);
    if (++kept == most_kept) add_kept(position[t]);
  }
}

void PairSums::add_kept(Index position) {
  const Index k = chain_->k;
  const double* const rows = kept_.data() + position * 2 * most_kept * k;
  kernels().add_product_tn(n_kept_[position], k, k, rows, k, rows + most_kept * k, k,
                           sums_.data() + chain_->block(position), k);
  n_kept_[position] = 0;
}

Vec PairSums::finish() {
  for (std::size_t p = 0; p < n_kept_.size(); ++p)
    if (n_kept_[p] > 0) add_kept(static_cast<Index>(p));
  return std::move(sums_);
}

double add_transitions(const Chain& chain, std::vector<PairSums>& without_factor, const Vec& log_space,
                       Summary& to) {
  const Index k = chain.k;
  std::vector<Vec> sums;
  for (PairSums& s : without_factor) sums.push_back(s.finish());
  Vec pair(chain.log_transition.size(), 0.0);
  const double entropy = add_transitions(chain, sums, log_space, pair);
  for (Index p = 0; p < chain.positions(); ++p)
    for (Index i = 0; i < k; ++i)
      for (Index j = 0; j < k; ++j) to.of_pair(i, j, p) += pair[chain.block(p) + i * k + j];
  return entropy;
}

}  // namespace bnpvi::chains
