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

// The log evidence of each topic of these pairs; NaN for all others.
Vec evidences(const ObsModel& obs, const Summary& s, const std::vector<TopicPair>& pairs) {
  Vec out(static_cast<std::size_t>(s.k), NAN);
  for (const TopicPair& pair : pairs)
    for (Index j : {pair.a, pair.b})
      if (std::isnan(out[j])) out[j] = used_evidence(obs, s, j);
  return out;
}

void score_pairs(const MoveContext& context, const Summary& s, std::vector<TopicPair>& pairs) {
  const ObsModel& obs = context.problem.obs;
  const Vec evidence = evidences(obs, s, pairs);
  context.pool.run(static_cast<Index>(pairs.size()), [&](Index i) {
    context.pool.poll();
    TopicPair& pair = pairs[i];
    pair.score = evidence_of_pair(obs, s, pair.a, pair.b) - evidence[pair.a] - evidence[pair.b];
  });
}

}  // namespace

std::vector<TopicPair> close_pairs(const MoveContext& context, const Summary& s, Index most,
                                   const std::function<bool(Index a, Index b)>& wanted) {
  std::vector<TopicPair> out;
  for (Index a = 0; a < s.k; ++a)
    for (Index b = a + 1; b < s.k; ++b)
      if (wanted(a, b)) out.push_back({a, b, 0});
  const auto keep_best = [&](Index n) {
    std::stable_sort(out.begin(), out.end(),
                     [](const TopicPair& x, const TopicPair& y) { return x.score > y.score; });
    if (static_cast<Index>(out.size()) > n) out.resize(static_cast<std::size_t>(n));
  };
  if (static_cast<Index>(out.size()) > 4 * most) {
    const Vec rough = rough_gains(context.problem.obs, s);
    for (TopicPair& pair : out) pair.score = rough[pair.a * s.k + pair.b];
    keep_best(4 * most);
  }
  score_pairs(context, s, out);
  keep_best(most);
  return out;
}

Vec gains_of_joining_neighbours(const MoveContext& context, const Summary& s) {
  constexpr Index neighbours = 8;  // of each topic; measured (inst/design/decisions.md)
  const Index k = s.k;
  Vec rough = rough_gains(context.problem.obs, s);
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < k; ++b)
      if (a != b && !s.may_join(std::min(a, b), std::max(a, b))) rough[a * k + b] = -INFINITY;
  std::set<std::pair<Index, Index>> near;
  for (Index a = 0; a < k; ++a)
    for (Index b : nearest(a, k, rough, neighbours)) near.insert(std::minmax(a, b));
  std::vector<TopicPair> pairs;
  for (const auto& [a, b] : near) pairs.push_back({a, b, 0});
  score_pairs(context, s, pairs);
  Vec out(rough.size(), -INFINITY);
  for (const TopicPair& pair : pairs) out[pair.a * k + pair.b] = out[pair.b * k + pair.a] = pair.score;
  return out;
}

}  // namespace bnpvi::topics
