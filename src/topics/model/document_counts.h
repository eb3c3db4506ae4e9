// Lengths of documents and their counts of topics: all that the objective of a topic model needs of the
// documents in order to be a function of the concentration α.
#pragma once
#include <map>

#include "foundation/pool.h"
#include "inference/learn/state.h"

namespace bnpvi::topics {

/// How many documents (sums of weights) have each length, in tokens or rows. Lengths are whole numbers, so
/// that the counts of topics that are stored for a document, whose sum is the length but for rounding,
/// determine it exactly.
class DocumentLengths {
 public:
  void add(const ShareTable& documents);

  /// The part of the objective that depends on lengths and the concentration α: −Σ_d w_d log Γ(N_d + α), with
  /// N_d the length and w_d the weight of document d.
  double term(double alpha) const;

 private:
  std::map<double, double> number_;
};

/// The counts N_dk > 0 of topic k in document d, and the weights of documents, for all documents, listed by
/// topic.
class DocumentCounts {
 public:
  explicit DocumentCounts(const State& state);

  /// The part of the objective that depends on the counts, for each of K topics: Σ_d w_d log Γ(N_dk + a_k),
  /// summed over the documents d (of weight w_d) that use topic k.
  Vec terms(const Vec& a, Pool* pool) const;

 private:
  struct Count {
    double count, weight;
  };
  std::vector<std::vector<Count>> counts_;
};

}  // namespace bnpvi::topics
