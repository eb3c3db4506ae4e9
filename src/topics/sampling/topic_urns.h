// Topics as urns of the observations of documents: tokens, or rows.
#pragma once
#include "foundation/types.h"

namespace bnpvi::topics {

/// K topics, numbered 0 .. K − 1, while observations, numbered as those of some documents, come and go. Those
/// that began with earlier observations stay when their own have left. An observation of mass m is in its
/// topic with the statistic m φ(x).
class TopicUrns {
 public:
  virtual ~TopicUrns() = default;

  /// Clears, and begins with k topics that have the statistics t (k × p) of earlier observations.
  virtual void begin_with(const double* t, Index k) = 0;
  virtual Index k() const = 0;

  virtual void add(Index j, Index i, double mass) = 0;  // j ≤ K: observation i to topic j, K a new one
  /// True when topic j has no observation left and did not begin with any; it must be dropped then, before
  /// anything else.
  virtual bool remove(Index j, Index i, double mass) = 0;
  /// Topic K − 1 gets the number j.
  virtual void drop(Index j) = 0;

  /// prior_j p(observation i | topic j) / c of the first prior.size() ≤ K + 1 topics, K being a new one; c
  /// does not depend on j. Returns log c, base measure left out.
  virtual double weigh(Index i, const Vec& prior, double* out) = 0;
  /// The same, topic `own` (−1: none) having the observation with this mass: without it there. At most K
  /// topics. Safe in threads.
  virtual void weigh_without(Index i, Index own, double mass, const Vec& prior, double* out) const = 0;

  /// The statistics of all topics, K × p.
  virtual Vec statistics() const = 0;
};

}  // namespace bnpvi::topics
