#include "inference/moves/last_open.h"

#include <algorithm>

namespace bnpvi {

bool is_last_open(const Summary& s, Index j) {
  return !s.owner.empty() && s.owner_of(j) == 0 && std::count(s.owner.begin(), s.owner.end(), 0) == 1;
}

bool labels_are_open(const Problem& problem) {
  if (!problem.source.shape().labelled) return false;
  const std::shared_ptr<const Batch> batch = problem.source.open(0);
  const ClassSets& sets = *batch->data.class_sets;
  for (int set = 1; set <= sets.n_sets(); ++set)
    if (sets.allows(set, 0)) return true;
  return false;
}

}  // namespace bnpvi
