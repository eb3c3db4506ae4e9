// Lengths of documents and their counts of topics. The objective of a topic model as a function of the
// concentration α needs nothing else of the documents.
#pragma once
#include <map>

#include "foundation/pool.h"
#include "inference/learn/state.h"

namespace bnpvi::topics {

/// How many documents (sums of weights) have each length, in tokens or rows. Lengths are whole numbers. The
/// topic counts stored for a document sum to its length up to rounding, and so give the exact length.
class DocumentLengths {
 public:
  void add(const ShareTable& documents);

  /// The part of the objective that depends on lengths and the concentration α: −Σ_d w_d log Γ(N_d + α), with
  /// N_d the length and w_d the weight of document d.
  double term(double alpha) const;

 private:
  std::map<double, double> number_;
};

/// The counts N_dk > 0 of topic k in document d, and the weights of the documents, listed by topic.
class DocumentCounts {
 public:
  explicit DocumentCounts(const State& state);

  /// The part of the objective that depends on the counts, for each of K topics k: Σ_d w_d log Γ(N_dk + a_k),
  /// a sum over the documents d that use topic k, with weights w_d.
  Vec terms(const Vec& a, Pool* pool) const;

 private:
  struct Count {
    double count, weight;
  };
  std::vector<std::vector<Count>> counts_;
};

}  // namespace bnpvi::topics
