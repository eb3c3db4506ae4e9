// The topics that documents with known labels may use.
#pragma once
#include <algorithm>

#include "inference/data/summary.h"

namespace bnpvi::topics {

/// The topics that each document may use. A topic may have an owner: a class of documents, which alone may
/// use the topic (Summary::owner). The first row of a document says to which set of classes it belongs.
class AllowedTopics {
 public:
  AllowedTopics(const Dataset& data, const Summary& topics) : data_(data) {
    if (!data.classes || topics.owner.empty()) return;
    of_set_.resize(static_cast<std::size_t>(data.class_sets->n_sets()));
    for (std::size_t set = 0; set < of_set_.size(); ++set)
      for (Index j = 0; j < topics.k; ++j)
        if (data.class_sets->allows(static_cast<int>(set) + 1, topics.owner_of(j)))
          of_set_[set].push_back(static_cast<int>(j));
  }

  /// The topics that this document may use, in ascending order; null: all topics.
  const std::vector<int>* of(Index document) const {
    if (of_set_.empty()) return nullptr;
    const Index row = data_.starts[document];
    const int set = row < data_.starts[document + 1] ? data_.classes[row] : 0;
    return set == 0 ? nullptr : &of_set_[static_cast<std::size_t>(set - 1)];
  }

 private:
  const Dataset& data_;
  std::vector<std::vector<int>> of_set_;
};

/// Returns those shares of a document (topics with their counts) whose topics are in `topics` (ascending).
inline std::vector<Share> allowed_shares(Shares shares, const std::vector<int>& topics) {
  std::vector<Share> out;
  for (const Share& s : shares)
    if (std::binary_search(topics.begin(), topics.end(), s.cluster)) out.push_back(s);
  return out;
}

}  // namespace bnpvi::topics
