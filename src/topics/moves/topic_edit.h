// A proposal to a topic model: some documents are visited again under other topics.
#pragma once
#include <functional>

#include "inference/moves/edit.h"
#include "inference/moves/room.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

/// A document by its place among the batches.
struct DocumentRef {
  Index batch, at;
};

/// All documents whose shares are such, in the order of the batches.
std::vector<DocumentRef> documents_with(const State& state, const std::function<bool(Shares)>& such);

/// All documents with at least `least` tokens in a topic, in the order of the batches.
std::vector<DocumentRef> users_of(const State& state, Index topic, double least = 0);

/// Has a document anything of a topic, and how much?
bool uses(Shares shares, Index topic);
double count_of(Shares shares, Index topic);

/// What is remembered of the documents of a batch.
const ShareTable& memory_of(const State& state, Index batch);

/// Has a document to be visited when these topics go: it uses one that is dropped, or several that become
/// one.
bool touches(const Room& room, Shares shares);

/// What it was at its last visit.
Shares shares_of(const State& state, const DocumentRef& ref);

/// Loads documents of several batches, for one thread; quickest when those of a batch follow each other.
class PlacedReader {
 public:
  explicit PlacedReader(const Problem& problem) : problem_(problem) {}

  DocumentReader& at(const DocumentRef& ref);
  /// The document last asked for with at(), as it was at its last visit, unit `at` of the memory.
  DocumentView recall(const ShareTable& memory, Index at);
  /// Lets go of the batch, and so of what was loaded.
  void close();

 private:
  const Problem& problem_;
  DocumentRef ref_{-1, -1};
  std::shared_ptr<const Batch> batch_;
  std::optional<DocumentReader> reader_;
};

/// An edit of documents, which are visited from starts in the numbering after the changes. They begin as the
/// last shares, joined and renumbered; the caller divides them among new topics before begin(). The state
/// must outlive the rounds.
class TopicEdit final : public Edit {
 public:
  /// Documents in the order of the batches: among them all that use a topic that is dropped, or several that
  /// become one. Every search_every-th round, the first among them, they also look for better optima than the
  /// one near their start.
  TopicEdit(const MoveContext& context, const TopicAlloc& alloc, const State& state,
            std::vector<DocumentRef> documents, Changes changes, Index search_every);

  Index n() const { return static_cast<Index>(documents_.size()); }
  const DocumentRef& document(Index i) const { return documents_[i]; }

  /// Where document i starts (topic and count); empty: from scratch.
  std::vector<std::vector<Share>> start;
  /// Statistics and weights (K + 1) of the topics for the first visit; those of new topics are 0.
  Summary topics;
  Vec weights_of_topics;
  /// The topics that the target of a division becomes.
  std::vector<Index> divided;

  /// Begins at the globals of these topics.
  void begin() { begin_at(alloc_.globals_at(std::move(topics), weights_of_topics)); }

  /// After a round: further changes, and another beginning from what the documents have now.
  void begin_again(const Changes& more);

 private:
  void apply(const Changes& changes);  // to all but the documents' shares
  void visit(const Globals& globals, Summary& total) override;
  bool worth_sending(Index k) const;  // to other processes?
  void put_back(State& edited) override;

  // Keeps of the weights that documents of these batches remember what they need, where that takes less
  // memory.
  void condense(std::vector<std::shared_ptr<Summary>>& batches) const;

  // Takes documents from .. to − 1 as they are in the state out of `sum`, or adds them as they were visited
  // last.
  enum class Documents { out_as_before, in_as_visited };
  void move(Documents how, Index from, Index to, Summary& sum) const;

  const TopicAlloc& alloc_;
  const State& state_;
  std::vector<DocumentRef> documents_;
  const Index search_every_;
  ShareTable visited_;  // of the documents, last
};

}  // namespace bnpvi::topics
