// k-means++ that uses all rows of the data in few passes over the batches.
#pragma once
#include "inference/learn/state.h"
#include "inference/start/seeding.h"

namespace bnpvi {

/// The number of passes over the data that draw candidate rows far from earlier candidates. A first pass
/// before these draws rows by their weights alone.
inline constexpr Index scalable_rounds = 4;

/// The result of scalable_kmeans(), and the candidate rows from which it was found.
struct ScalableClusters {
  HardClusters clusters;         // its loss is over the candidates only
  std::vector<Index> candidate;  // numbers of the candidate rows among all rows, in the order of drawing
  Vec mass;                      // for each candidate the mass of the rows nearest to it
  /// The sum over all rows of mass × divergence to the nearest candidate: one value before each draw except
  /// the first, and one after the last.
  Vec potential;
};

/// At most k clusters of all rows by scalable k-means++, "k-means||" [Bahmani, Moseley, Vattani, Kumar and
/// Vassilvitskii 2012], in the divergence of the observation model [Hughes 2016, sections 2.4.2 and 8.2]:
///   1. `rounds` + 1 times, k rows are drawn without replacement as candidates (DrawRowsWork), the first time
///      by mass alone.
///   2. Each candidate gets the mass of the rows nearest to it. Of the candidates, k are chosen by k-means++
///      and improved by rounds of k-means. This is done ten times, and the clustering with the least loss is
///      used. Masses are scaled to a mean of 1, so that candidates count as a sample of as many rows. A
///      cluster of few candidates, which do not show its spread, then has the spread of the prior.
///   3. Each row is assigned to the nearest of these clusters, taking their frequencies into account. T are
///      the sums of features of the clusters' rows.
/// These are rounds + 3 passes over the batches; the first reads no features. A pass is sent the rows of at
/// most (rounds + 1) k candidates, or k × p numbers. It returns k rows and masses, or k × p numbers. The
/// candidates depend neither on the division into batches nor on the processes that work on them.
ScalableClusters scalable_kmeans(const Problem& problem, Index k, Pool& pool, Index rounds = scalable_rounds);

}  // namespace bnpvi
