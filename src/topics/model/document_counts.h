// Lengths of documents and their counts of topics. The objective of a topic model, as a function of α, needs
// nothing else of the documents.
#pragma once
#include <map>

#include "foundation/pool.h"
#include "inference/learn/state.h"

namespace bnpvi::topics {

/// Numbers of documents (sums of weights) by length, in tokens or rows. Lengths are whole numbers, so that a
/// document's counts in the memory of its batch, which add up to it but for rounding, determine it exactly.
class DocumentLengths {
 public:
  void add(const ShareTable& documents);

  /// The part of the objective that depends on lengths: −Σ_d w_d log Γ(N_d + α), with w_d the weights of
  /// documents.
  double term(double alpha) const;

 private:
  std::map<double, double> number_;
};

/// The positive counts N_dk of all documents and their weights, by topic.
class DocumentCounts {
 public:
  explicit DocumentCounts(const State& state);

  /// The part of the objective that depends on counts, for each topic k: Σ_d w_d log Γ(N_dk + a_k) over the
  /// documents that use topic k. K numbers.
  Vec terms(const Vec& a, Pool* pool) const;

 private:
  struct Count {
    double count, weight;
  };
  std::vector<std::vector<Count>> counts_;
};

}  // namespace bnpvi::topics
