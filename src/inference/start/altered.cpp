#include "inference/start/altered.h"

#include <algorithm>
#include <utility>

#include "foundation/random.h"
#include "inference/moves/move.h"
#include "inference/moves/neighbour_groups.h"
#include "inference/start/start.h"

namespace bnpvi {

namespace {

// Of all clusters, the number of pairs to join: guesses.
constexpr double least_share = 0.1, most_share = 0.5;

// Disjoint pairs (a, b), a < b, each of a random cluster and one of the two nearest to it, largest b first.
std::vector<std::pair<Index, Index>> pairs_to_join(Index k, const Vec& loss, Stream& stream) {
  const double share = least_share + (most_share - least_share) * stream.uniform();
  const std::size_t wanted =
      std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(k)));
  std::vector<std::pair<Index, Index>> pairs;
  std::vector<bool> taken(static_cast<std::size_t>(k));
  for (Index a : shuffled(k, stream)) {
    const std::vector<Index> near = nearest(a, k, loss, 2);
    if (near.empty() || pairs.size() == wanted) continue;
    const Index b = near[stream.index(static_cast<Index>(near.size()))];
    if (taken[a] || taken[b]) continue;
    taken[a] = taken[b] = true;
    pairs.push_back(std::minmax(a, b));
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
  return pairs;
}

}  // namespace

Progress altered(const Problem& problem, const Progress& best, Pool& pool) {
  Stream stream(problem.seed, Purpose::initial_seeds, 1);
  Progress out = best;
  Summary total = best.state.total;
  const Vec loss = evidence_of_merging(problem.obs, total, pool);
  for (const auto& [a, b] : pairs_to_join(total.k, loss, stream)) {
    total.merge(a, b);
    out.moves.merge(a, b);
    out.moves.birth_succeeded(a);
  }
  out.state = start_from_globals(problem, problem.alloc.global_step(total, {}));
  out.turn = out.step = 0;
  out.memory.clear();
  return out;
}

}  // namespace bnpvi
