// What the objective of a topic model has of the documents as α varies: their lengths, and their counts of
// topics.
#pragma once
#include <map>

#include "foundation/pool.h"
#include "inference/learn/state.h"

namespace bnpvi::topics {

/// Numbers (sums of weights) of documents by length, in tokens or rows. Lengths are whole numbers, so that
/// the counts that a batch's memory has of each document tell them exactly.
class DocumentLengths {
 public:
  void add(const ShareTable& documents);

  /// −Σ_d w_d log Γ(N_d + α).
  double term(double alpha) const;

 private:
  std::map<double, double> number_;
};

/// The positive counts N_dk of all documents and their weights, by topic.
class DocumentCounts {
 public:
  explicit DocumentCounts(const State& state);

  /// Σ_d w_d log Γ(N_dk + a_k) over the documents that use topic k, K numbers.
  Vec terms(const Vec& a, Pool* pool) const;

 private:
  struct Count {
    double count, weight;
  };
  std::vector<std::vector<Count>> counts_;
};

}  // namespace bnpvi::topics
