// k-means++ that looks at all rows, in few passes over the batches.
#pragma once
#include "inference/learn/state.h"
#include "inference/start/seeding.h"

namespace bnpvi {

/// Passes that draw candidates from the divergences to earlier ones, after one that draws from all rows
/// alike.
inline constexpr Index scalable_rounds = 4;

/// What came of it, and how.
struct ScalableClusters {
  HardClusters clusters;         // the loss is that of the candidates
  std::vector<Index> candidate;  // numbers of these rows among all, in the order in which they were drawn
  Vec mass;                      // of the rows nearest to each
  Vec potential;  // Σ mass × divergence to the nearest candidate, before each draw but the first and in the
                  // end
};

/// At most k clusters of all rows by scalable k-means++, "k-means||" [Bahmani, Moseley, Vattani, Kumar and
/// Vassilvitskii 2012], in the divergence of the observation model [Hughes 2016, sections 2.4.2 and 8.2]:
///   1. `rounds` + 1 times draw k rows without replacement (DrawRowsWork), first by mass alone;
///   2. of the candidates, with the mass of the rows that are nearest to each, choose k by k-means++, improve
///      these by rounds of k-means, and of ten such clusterings take the one with the least loss. Masses are
///      scaled to a mean of 1: candidates are a sample of as many rows, and a cluster of few of them, whose
///      spread they do not show, has that of the prior;
///   3. each row goes to the nearest of these, with frequencies; T are the sums.
/// These are rounds + 3 passes over the batches; the first reads no features. A pass is sent the rows of at
/// most (rounds + 1) k candidates, or k × p numbers, and returns k rows and masses, or k × p numbers. The
/// candidates depend neither on the batches nor on the process that looked at them.
ScalableClusters scalable_kmeans(const Problem& problem, Index k, Pool& pool, Index rounds = scalable_rounds);

}  // namespace bnpvi
