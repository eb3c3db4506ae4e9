// A proposal to a topic model: some documents are visited again under other topics.
#pragma once
#include "inference/moves/edit.h"
#include "topics/moves/few_terms.h"

namespace bnpvi::topics {

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
  /// Statistics (of the terms in problem()) and weights (K + 1) of the topics for the first visit; those of
  /// new topics are 0.
  Summary topics;
  Vec weights_of_topics;
  /// The topics that the target of a division becomes.
  std::vector<Index> divided;

  /// Topic j begins with this statistic of all terms.
  void set_topic(Index j, const double* t);

  /// Begins at the globals of these topics.
  void begin() { begin_at(alloc_.globals_at(std::move(topics), weights_of_topics)); }

  /// After a round: further changes, and another beginning from what the documents have now.
  void begin_again(const Changes& more);

  const Problem& problem() const override { return few_ ? few_problem_ : c_.problem; }

 private:
  void apply(const Changes& changes);  // to all but the documents' shares
  void visit(const Globals& globals, Summary& total) override;
  bool worth_sending(Index k) const;  // to other processes?
  void put_back(State& edited) override;

  // Keeps of the weights that documents of these batches remember what they need, where that takes less
  // memory.
  void condense(std::vector<std::shared_ptr<Summary>>& batches) const;

  // Takes documents from .. to − 1 as they are in the state out of `sum`, or adds them as they were visited
  // last. few: its terms are those of a visit; null: all.
  enum class Documents { out_as_before, in_as_visited };
  void move(Documents how, Index from, Index to, const FewTerms* few, Summary& sum) const;
  void forget_weights();  // of the last visit: C is kept

  double beyond_few_terms() const;  // what the ELBO has beside that of problem()

  const TopicAlloc& alloc_;
  const State& state_;
  std::vector<DocumentRef> documents_;
  const Index search_every_;
  const std::unique_ptr<const FewTerms> few_;  // of the documents; null: visits go by all terms
  const Problem few_problem_;
  ShareTable visited_;  // of the documents, last
};

}  // namespace bnpvi::topics
