// How long the documents are, of which the objective knows −Σ_d log Γ(N_d + α).
#pragma once
#include <map>

#include "inference/summary.h"

namespace bnpvi::topics {

/// Numbers of documents by length, in tokens or rows. Lengths are whole numbers, so that the counts that a
/// batch's memory has of each document tell them exactly.
class DocumentLengths {
 public:
  void add(const ShareTable& documents);

  /// −Σ_d log Γ(N_d + α).
  double term(double alpha) const;

 private:
  std::map<double, double> number_;
};

}  // namespace bnpvi::topics
