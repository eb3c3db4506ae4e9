#include "mixtures/candidates.h"

#include <algorithm>
#include <numeric>

#include "kernels/kernels.h"

namespace bnpvi::mixtures {

void SupportMemory::set(Index i, const Responsibilities& r, Index row) {
  const double* value = r.value.data() + row * width();
  int* out = support_.of(i);
  std::copy_n(r.cluster.data() + row * width(), width(), out);
  std::swap(out[0], out[std::max_element(value, value + width()) - value]);
}

std::vector<int> SupportMemory::born(Index k) const {
  std::vector<int> out = born_;
  for (Index j = k_; j < k; ++j) out.push_back(static_cast<int>(j));
  return out;
}

std::shared_ptr<const UnitMemory> SupportMemory::renumbered(const std::vector<Index>& number) const {
  auto out = std::make_shared<SupportMemory>(*this);
  out->k_ = 1 + *std::max_element(number.begin(), number.end());
  out->support_.renumber(number);
  out->born_ = born(static_cast<Index>(number.size()));
  for (int& j : out->born_) j = j < 0 ? -1 : static_cast<int>(number[j]);
  return out;
}

std::vector<Index> by_best_cluster(const SupportMemory& memory, Index n, Index k) {
  std::vector<Index> start(static_cast<std::size_t>(k + 2), 0), out(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) ++start[memory.of(i)[0] + 2];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (Index i = 0; i < n; ++i) out[start[memory.of(i)[0] + 1]++] = i;
  return out;
}

CandidateStep::CandidateStep(const Weights& weights, const Vec& log_pi, const Neighbours& neighbours,
                             const SupportMemory& memory, Index width)
    : weights_(weights),
      log_pi_(log_pi),
      neighbours_(neighbours),
      memory_(memory),
      width_(width),
      born_(memory.born(weights.k)),
      is_chosen_(static_cast<std::size_t>(weights.k), false) {}

void CandidateStep::choose(const Index* position, Index n) {
  chosen_.clear();
  const auto add = [this](int j) {
    if (j < 0 || is_chosen_[j]) return;
    is_chosen_[j] = true;
    chosen_.push_back(j);
  };
  const int best = memory_.of(position[0])[0];
  if (best < 0)
    for (Index j = 0; j < weights_.k; ++j) add(static_cast<int>(j));
  else
    std::for_each_n(neighbours_.of(best), neighbours_.width, add);
  for (Index i = 0; i < n; ++i) std::for_each_n(memory_.of(position[i]), memory_.width(), add);
  std::for_each(born_.begin(), born_.end(), add);
  std::sort(chosen_.begin(), chosen_.end());
  for (int j : chosen_) is_chosen_[j] = false;
}

void CandidateStep::responsibilities(const FeatureBlock& block, const Index* position, Responsibilities& r,
                                     double& entropy) {
  const Index n = block.n();
  r.log_weight.resize(static_cast<std::size_t>(n * width_));
  r.cluster.resize(r.log_weight.size());
  for (Index from = 0, to; from < n; from = to) {
    for (to = from + 1; to < n && memory_.of(position[to])[0] == memory_.of(position[from])[0];) ++to;
    const Index rows = to - from;
    choose(position + from, rows);
    const Index m = static_cast<Index>(chosen_.size());
    score_.resize(static_cast<std::size_t>(rows * m));
    by_row_.resize(score_.size());
    block.times_some(weights_, chosen_, from, rows, score_.data());
    for (Index c = 0; c < m; ++c)
      for (Index i = 0; i < rows; ++i) by_row_[i * m + c] = score_[c * rows + i] + log_pi_[chosen_[c]];
    int* cluster = r.cluster.data() + from * width_;
    select_largest(rows, m, by_row_.data(), width_, r.log_weight.data() + from * width_, cluster);
    for (Index i = 0; i < rows * width_; ++i) cluster[i] = chosen_[cluster[i]];
  }
  r.n = n;
  r.k = weights_.k;
  r.width = width_;
  r.sparse = true;
  normalise_support(r, entropy);
}

}  // namespace bnpvi::mixtures
