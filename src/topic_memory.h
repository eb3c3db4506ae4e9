// What topic models remember of every document.
#pragma once
#include "doc_step.h"
#include "summary.h"

namespace bnpvi {

/// The last visit of one document. Its responsibilities are a function of `weights` and `share`, so that
/// its part of a summary can be taken out again without ever being stored.
struct DocumentMemory {
  std::shared_ptr<const Weights> weights;  // at the visit, shared by all documents visited together
  std::vector<TopicShare> share;           // by topic, ascending
  int misses = 0;                          // searches for another optimum in a row that found none
  int wait = 0;                            // visits until the next search
};

/// Of all documents of a batch, in the order of its units. About 40 bytes for each topic of each document,
/// and one set of weights for each batch.
class TopicMemory final : public UnitMemory {
 public:
  std::vector<std::shared_ptr<const DocumentMemory>> document;

  std::shared_ptr<const UnitMemory> renumbered(const std::vector<Index>& number) const override;
};

}  // namespace bnpvi
