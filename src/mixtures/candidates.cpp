#include "mixtures/candidates.h"

#include <algorithm>
#include <numeric>

#include "kernels/kernels.h"
#include "mixtures/known_labels.h"

namespace bnpvi::mixtures {

std::shared_ptr<UnitMemory> row_memory(Index n, Index k, Index width, const UnitMemory* last) {
  auto out = std::make_shared<UnitMemory>();
  out->support = SupportTable(n, width);
  out->known_k = k;
  if (last) out->visits = last->visits + 1;
  return out;
}

void remember_row(UnitMemory& memory, Index i, const Responsibilities& r, Index row) {
  const Index width = memory.support.width;
  const double* value = r.value.data() + row * width;
  int* out = memory.support.of(i);
  std::copy_n(r.cluster.data() + row * width, width, out);
  std::swap(out[0], out[std::max_element(value, value + width) - value]);
}

bool all_clusters_due(const UnitMemory& memory) {
  return memory.visits >= 3 && ((memory.visits + 1) & memory.visits) == 0;
}

std::vector<Index> by_best_cluster(const SupportTable& support, Index n, Index k) {
  std::vector<Index> start(static_cast<std::size_t>(k + 2), 0), out(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) ++start[support.of(i)[0] + 2];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (Index i = 0; i < n; ++i) out[start[support.of(i)[0] + 1]++] = i;
  return out;
}

CandidateStep::CandidateStep(const Weights& weights, const Vec& log_pi, const Neighbours& neighbours,
                             const UnitMemory& memory, const std::vector<int>& owner, Index width)
    : weights_(weights),
      log_pi_(log_pi),
      neighbours_(neighbours),
      support_(memory.support),
      owner_(owner),
      width_(width),
      born_(memory.newborn(weights.k)),
      is_chosen_(static_cast<std::size_t>(weights.k), false) {}

void CandidateStep::choose(const Index* position, Index n) {
  chosen_.clear();
  const auto add = [this](int j) {
    if (j < 0 || is_chosen_[j]) return;
    is_chosen_[j] = true;
    chosen_.push_back(j);
  };
  const int best = support_.of(position[0])[0];
  if (best < 0)
    for (Index j = 0; j < weights_.k; ++j) add(static_cast<int>(j));
  else
    std::for_each_n(neighbours_.of(best), neighbours_.width, add);
  for (Index i = 0; i < n; ++i) std::for_each_n(support_.of(position[i]), support_.width, add);
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
    for (to = from + 1; to < n && support_.of(position[to])[0] == support_.of(position[from])[0];) ++to;
    const Index rows = to - from;
    choose(position + from, rows);
    const Index m = static_cast<Index>(chosen_.size());
    score_.resize(static_cast<std::size_t>(rows * m));
    by_row_.resize(score_.size());
    block.times_some(weights_, chosen_, from, rows, score_.data());
    for (Index c = 0; c < m; ++c)
      for (Index i = 0; i < rows; ++i) by_row_[i * m + c] = score_[c * rows + i] + log_pi_[chosen_[c]];
    owner_of_chosen_.clear();
    for (int j : chosen_)
      if (!owner_.empty()) owner_of_chosen_.push_back(owner_[j]);
    exclude_forbidden(block, from, rows, owner_of_chosen_, by_row_.data());
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
