#include "topics/moves/close_pairs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "inference/data/evidence.h"
#include "inference/moves/neighbour_groups.h"
#include "kernels/kernels.h"

namespace bnpvi::topics {

namespace {

// Roughly the change of the log evidence when topics a and b are joined, K × K: minus the size of the smaller
// one times ⟨s_a − s_b, w_a − w_b⟩.
Vec rough_gains(const ObsModel& obs, const Summary& s) {
  const Index p = s.shape.p, k = s.k;
  Vec mean(static_cast<std::size_t>(k * p)), w(mean.size()), cross(static_cast<std::size_t>(k * k));
  for (Index j = 0; j < k; ++j)
    under_name(obs, s.names.of_cluster(j)).point_estimate(s.t(j), mean.data() + j * p, w.data() + j * p);
  kernels().product_nt(k, k, p, mean.data(), p, w.data(), p, cross.data(), k);
  Vec out(cross.size());
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < k; ++b)
      out[a * k + b] = -(std::min(s.size(a), s.size(b)) *
                         (cross[a * k + a] + cross[b * k + b] - cross[a * k + b] - cross[b * k + a]));
  return out;
}

Vec evidences(const ObsModel& obs, const Summary& s) {
  Vec out;
  for (Index j = 0; j < s.k; ++j) out.push_back(used_evidence(obs, s, j));
  return out;
}

}  // namespace

std::vector<TopicPair> close_pairs(const MoveContext& context, const Summary& s, Index most,
                                   const std::function<bool(Index a, Index b)>& wanted) {
  const ObsModel& obs = context.problem.obs;
  const Vec rough = rough_gains(obs, s);
  std::vector<TopicPair> out;
  for (Index a = 0; a < s.k; ++a)
    for (Index b = a + 1; b < s.k; ++b)
      if (wanted(a, b)) out.push_back({a, b, rough[a * s.k + b]});
  const auto keep_best = [&](Index n) {
    std::stable_sort(out.begin(), out.end(),
                     [](const TopicPair& x, const TopicPair& y) { return x.score > y.score; });
    if (static_cast<Index>(out.size()) > n) out.resize(static_cast<std::size_t>(n));
  };
  keep_best(4 * most);
  const Vec evidence = evidences(obs, s);
  for (TopicPair& pair : out) {
    context.pool.poll();
    pair.score = evidence_of_pair(obs, s, pair.a, pair.b) - evidence[pair.a] - evidence[pair.b];
  }
  keep_best(most);
  return out;
}

Vec gains_of_joining_neighbours(const MoveContext& context, const Summary& s) {
  constexpr Index neighbours = 8;  // of each topic; measured (inst/design/decisions.md)
  const ObsModel& obs = context.problem.obs;
  const Index k = s.k;
  Vec rough = rough_gains(obs, s);
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < k; ++b)
      if (a != b && !s.may_join(std::min(a, b), std::max(a, b))) rough[a * k + b] = -INFINITY;
  std::set<std::pair<Index, Index>> pairs;
  for (Index a = 0; a < k; ++a)
    for (Index b : nearest(a, k, rough, neighbours)) pairs.insert(std::minmax(a, b));
  const std::vector<std::pair<Index, Index>> list(pairs.begin(), pairs.end());
  const Vec evidence = evidences(obs, s);
  Vec out(rough.size(), -INFINITY);
  context.pool.run(static_cast<Index>(list.size()), [&](Index i) {
    context.pool.poll();
    const auto [a, b] = list[i];
    out[a * k + b] = out[b * k + a] = evidence_of_pair(obs, s, a, b) - evidence[a] - evidence[b];
  });
  return out;
}

}  // namespace bnpvi::topics
