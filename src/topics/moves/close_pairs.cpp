#include "topics/moves/close_pairs.h"

#include <algorithm>

#include "inference/data/evidence.h"
#include "kernels/kernels.h"

namespace bnpvi::topics {

std::vector<TopicPair> close_pairs(const MoveContext& context, const Summary& s, Index most,
                                   const std::function<bool(Index a, Index b)>& wanted) {
  const Index p = s.shape.p, k = s.k;
  const ObsModel& obs = context.problem.obs;
  Vec mean(static_cast<std::size_t>(k * p)), w(mean.size()), cross(static_cast<std::size_t>(k * k));
  for (Index j = 0; j < k; ++j)
    under_name(obs, s.names.of_cluster(j)).point_estimate(s.t(j), mean.data() + j * p, w.data() + j * p);
  kernels().product_nt(k, k, p, mean.data(), p, w.data(), p, cross.data(), k);
  std::vector<TopicPair> out;
  for (Index a = 0; a < k; ++a)
    for (Index b = a + 1; b < k; ++b)
      if (wanted(a, b))
        out.push_back({a, b,
                       -(std::min(s.size(a), s.size(b)) *
                         (cross[a * k + a] + cross[b * k + b] - cross[a * k + b] - cross[b * k + a]))});
  const auto keep_best = [&](Index n) {
    std::stable_sort(out.begin(), out.end(),
                     [](const TopicPair& x, const TopicPair& y) { return x.score > y.score; });
    if (static_cast<Index>(out.size()) > n) out.resize(static_cast<std::size_t>(n));
  };
  keep_best(4 * most);
  Vec evidence;
  for (Index j = 0; j < k; ++j) evidence.push_back(used_evidence(obs, s, j));
  for (TopicPair& pair : out) {
    context.pool.poll();
    pair.score = evidence_of_pair(obs, s, pair.a, pair.b) - evidence[pair.a] - evidence[pair.b];
  }
  keep_best(most);
  return out;
}

}  // namespace bnpvi::topics
