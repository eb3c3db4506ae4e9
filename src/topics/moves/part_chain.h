// A short Markov chain that tests whether the observations of a topic fall into several clusters.
#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "foundation/special.h"

namespace bnpvi::topics {

/// Divides parts 0 .. n − 1 of a topic into at most `most` clusters, by collapsed Gibbs sampling under the
/// prior of a Chinese restaurant process. First places the parts one by one, then makes `sweeps` sweeps.
/// Returns the cluster of each part in the most probable state that was visited after a sweep.
///
/// `clusters` must be empty at first, with K = k() clusters at any time, and have these functions. parts(j):
/// number of parts in cluster j. log_evidence(j). log_predictives(i, m, out): log predictive densities of
/// part i in clusters 0 .. m − 1 with m ≤ K + 1, where cluster K is a new one. add(j, i) with j ≤ K, and
/// remove(j, i): part i joins or leaves cluster j. drop(j): removes cluster j, which has no parts, and gives
/// its number to the last cluster.
template <class Clusters>
std::vector<int> most_probable_clusters(Clusters& clusters, Index n, double concentration, Index sweeps,
                                        Index most, Stream& stream, Pool& pool) {
  std::vector<int> label(static_cast<std::size_t>(n), 0), best(label);
  Vec log_p;
  const auto place = [&](Index i) {
    pool.poll();
    const Index k = clusters.k();
    log_p.assign(static_cast<std::size_t>(k < most ? k + 1 : k), 0.0);
    clusters.log_predictives(i, static_cast<Index>(log_p.size()), log_p.data());
    for (Index j = 0; j < static_cast<Index>(log_p.size()); ++j)
      log_p[j] += std::log(j < k ? static_cast<double>(clusters.parts(j)) : concentration);
    const double top = *std::max_element(log_p.begin(), log_p.end());
    for (double& x : log_p) x = std::exp(x - top);
    label[i] = static_cast<int>(draw(log_p, stream));
    if (label[i] < 0) throw std::domain_error("a part has no probability in any cluster: numbers broke down");
    clusters.add(label[i], i);
  };
  for (Index i : shuffled(n, stream)) place(i);
  double most_probable = -HUGE_VAL;
  for (Index sweep = 0; sweep < sweeps; ++sweep) {
    for (Index i = 0; i < n; ++i) {
      const int from = label[i];
      clusters.remove(from, i);
      if (clusters.parts(from) == 0) {
        const int last = static_cast<int>(clusters.k()) - 1;
        clusters.drop(from);
        label[i] = -1;
        std::replace(label.begin(), label.end(), last, from);
      }
      place(i);
    }
    double now = 0;
    for (Index j = 0; j < clusters.k(); ++j)
      now += std::log(concentration) + log_gamma(static_cast<double>(clusters.parts(j))) +
             clusters.log_evidence(j);
    if (now > most_probable) most_probable = now, best = label;
  }
  return best;
}

}  // namespace bnpvi::topics
