#include "topics/moves/close_pairs.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace bnpvi::topics {

std::vector<TopicPair> close_pairs(const MoveContext& context, const Summary& s, Index most,
                                   const std::function<bool(Index a, Index b)>& wanted) {
  const Index p = s.shape.p, k = s.k;
  const ObsModel& obs = context.problem.obs;
  Vec mean(static_cast<std::size_t>(k * p)), w(mean.size()), cross(static_cast<std::size_t>(k * k));
  for (Index j = 0; j < k; ++j) obs.point_estimate(s.t(j), mean.data() + j * p, w.data() + j * p);
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
  Vec evidence, t(static_cast<std::size_t>(p));
  for (Index j = 0; j < k; ++j) evidence.push_back(used_evidence(obs, s.t(j)));
  for (TopicPair& pair : out) {
    context.pool.poll();
    for (Index i = 0; i < p; ++i) t[i] = s.t(pair.a)[i] + s.t(pair.b)[i];
    pair.score = used_evidence(obs, t.data()) - evidence[pair.a] - evidence[pair.b];
  }
  keep_best(most);
  return out;
}

}  // namespace bnpvi::topics
