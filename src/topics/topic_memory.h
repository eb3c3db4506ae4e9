// What topic models remember of every document.
#pragma once
#include <functional>

#include "inference/summary.h"
#include "topics/document_step.h"

namespace bnpvi::topics {

/// What documents that were visited together share: the weights at the visit, and storage.
struct TopicBlock {
  std::shared_ptr<const Weights> weights;
  std::vector<TopicShare> share;  // of the documents, one after the other
};

/// The last visit of one document. Its responsibilities are a function of weights() and share(), so that
/// its part of a summary can be taken out again without ever being stored.
struct DocumentMemory {
  const TopicBlock* block = nullptr;
  std::size_t from = 0, n = 0;  // its shares in the block
  int misses = 0;               // searches for another optimum in a row that found none
  int wait = 0;                 // visits until the next search

  const Weights& weights() const { return *block->weights; }
  Shares share() const { return {block->share.data() + from, n}; }
};

/// Appends a document to a block.
DocumentMemory remember(TopicBlock& block, Shares share);

/// Of all documents of a batch, in the order of its units. About 32 bytes for each topic of each document,
/// and one set of weights for each batch.
class TopicMemory final : public UnitMemory {
 public:
  std::vector<DocumentMemory> document;
  std::vector<std::shared_ptr<const TopicBlock>> block;  // where they are

  std::shared_ptr<const UnitMemory> renumbered(const std::vector<Index>& number) const override;

  /// The same with a change made to the shares of every document.
  std::shared_ptr<TopicMemory> changed(const std::function<void(std::vector<TopicShare>&)>& change) const;
};

}  // namespace bnpvi::topics
