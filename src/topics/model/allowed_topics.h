// The topics that labelled documents may use.
#pragma once
#include <algorithm>

#include "inference/data/summary.h"

namespace bnpvi::topics {

/// The topics that each document may use. These depend on the owner of each topic (the class whose documents
/// may use it, in a summary) and on the set of classes of the document's first row.
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

  /// The topics that the document may use, ascending; null: all.
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

/// From a document's shares (topics with their counts), those whose topics are among `topics` (ascending).
inline std::vector<Share> allowed_shares(Shares shares, const std::vector<int>& topics) {
  std::vector<Share> out;
  for (const Share& s : shares)
    if (std::binary_search(topics.begin(), topics.end(), s.cluster)) out.push_back(s);
  return out;
}

}  // namespace bnpvi::topics
