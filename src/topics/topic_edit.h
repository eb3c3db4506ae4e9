// A proposal to a topic model: some documents are visited again under other topics.
#pragma once
#include <functional>

#include "inference/move.h"
#include "topics/topic_model.h"

namespace bnpvi::topics {

/// A document by its place among the batches.
struct DocumentRef {
  Index batch, at;
};

/// All documents with at least `least` tokens in a topic, in the order of the batches.
std::vector<DocumentRef> users_of(const State& state, Index topic, double least = 0);

/// What is remembered of the documents of a batch.
const ShareTable& memory_of(const State& state, Index batch);

/// What it was at its last visit.
Shares shares_of(const State& state, const DocumentRef& ref);

/// Loads documents of several batches, for one thread; quickest when those of a batch follow each other.
class PlacedReader {
 public:
  explicit PlacedReader(const Problem& problem) : problem_(problem) {}

  DocumentReader& at(const DocumentRef& ref);
  /// Of the document last asked for with at().
  DocumentView load(const Weights& weights, const TopicTable* shared, bool exponentials);
  /// The same as it was at its last visit, unit `at` of the memory.
  DocumentView recall(const ShareTable& memory, Index at);
  /// Lets go of the batch, and so of what was loaded.
  void close();

 private:
  const Problem& problem_;
  DocumentRef ref_{-1, -1};
  std::shared_ptr<const Batch> batch_;
  std::optional<DocumentReader> reader_;
};

/// Takes documents out of a state, changes the topics of what is left, and brings the documents back by
/// local and global steps. All other documents keep their responsibilities, so `change` may do to a summary
/// without these documents only what needs no look at the data: append, drop an unused topic, or merge
/// topics that no other document uses together. The state itself stays as it is until finish().
class TopicEdit {
 public:
  TopicEdit(const MoveContext& context, const TopicAlloc& alloc, const State& state,
            std::vector<DocumentRef> documents, std::function<void(Summary&)> change);

  Index n() const { return static_cast<Index>(documents_.size()); }
  const DocumentRef& document(Index i) const { return documents_[i]; }

  /// Where document i starts, in the new numbering (topic and count): its last shares with topics renumbered
  /// by the caller; empty: from scratch.
  std::vector<std::vector<Share>> start;

  /// Statistics of the topics (new numbering) and weights (K + 1) at which the first round visits documents.
  void begin_at(Summary total, const Vec& weights);

  /// A local step on the documents and a global step; returns the ELBO. search: documents also look for
  /// better optima than the one near their start.
  double round(bool search);

  /// Rounds, searching in every search_every-th, until the ELBO is above that of `state`, which the edited
  /// state then replaces (true), or until what the last round gained leaves no hope. start: the ELBO before
  /// the first round, where it is known.
  bool climb(State& state, int max_rounds, int search_every, double start = -HUGE_VAL);

  /// The whole-data summary and globals after the last round.
  const State& proposed() const { return proposed_; }

  /// The state with complete batch summaries.
  State finish() const;

 private:
  // Keeps of the weights that documents of these batches remember what they need, where that takes less
  // memory.
  void condense(std::vector<std::shared_ptr<Summary>>& batches) const;

  // Sum over some of the documents, of k topics, as they were or as they were visited last.
  Summary part(Index from, Index to, Index k, bool as_before) const;

  const MoveContext& c_;
  const TopicAlloc& alloc_;
  const State& state_;
  std::vector<DocumentRef> documents_;
  std::function<void(Summary&)> change_;
  Summary rest_;  // the whole data without the documents, changed
  State proposed_;
  ShareTable visited_;  // of the documents, last
};

}  // namespace bnpvi::topics
