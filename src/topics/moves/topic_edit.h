// A proposal to change a topic model: some documents are visited again under changed topics.
#pragma once
#include "inference/moves/edit.h"
#include "topics/moves/few_terms.h"

namespace bnpvi::topics {

/// A proposal in which some documents are visited under changed topics. Each document has a start: topics,
/// numbered as after the changes, with counts. At first these are the counts of its last visit, joined and
/// renumbered. Before begin() the caller divides them among new topics. The state must outlive the rounds of
/// visits.
class TopicEdit final : public Edit {
 public:
  /// documents: in the order of the batches. They must include all documents that use a dropped topic, or
  /// several of the joined topics. search_every: in rounds 1, 1 + search_every, ... documents also search for
  /// optima other than the one near their start.
  TopicEdit(const MoveContext& context, const TopicAlloc& alloc, const State& state,
            std::vector<DocumentRef> documents, Changes changes, Index search_every);

  Index n() const { return static_cast<Index>(documents_.size()); }
  const DocumentRef& document(Index i) const { return documents_[i]; }

  /// The topics and counts with which each document starts; an empty list: the document starts from scratch.
  std::vector<std::vector<Share>> start;
  /// Statistics (of the terms in problem()) and weights (K + 1 numbers) of the topics for the first visit; 0
  /// for new topics until they are set.
  Summary topics;
  Vec weights_of_topics;
  /// The new topics that replace the divided ones, if the proposal is a division.
  std::vector<Index> divided;

  /// Sets the statistic (of all terms) with which topic j begins the first round of visits.
  void set_topic(Index j, const double* t);

  /// Begins the rounds of visits at the globals (the parameters' posterior) that follow from `topics`.
  void begin() { begin_at(alloc_.globals_at(std::move(topics), weights_of_topics)); }

  /// Makes further changes after a round of visits, and begins again from the topics and counts that
  /// documents have now.
  void begin_again(const Changes& more);

  const Problem& problem() const override { return few_ ? few_problem_ : c_.problem; }

 private:
  void apply(const Changes& changes);  // applies them to everything but the documents' counts
  void visit(const Globals& globals, Summary& total) override;
  bool worth_sending(Index k) const;  // should other processes do the visits?
  void put_back(State& edited) override;

  // Saves memory in what is stored of the documents: replaces the weights of topics by the expected
  // log-likelihoods C that are computed from them, for batches where C takes less memory.
  void condense(std::vector<std::shared_ptr<Summary>>& batches) const;

  // Subtracts the documents numbered from .. to − 1 from the statistics `sum`, with the counts that they have
  // in the state (out_as_before), or adds them with the counts of their last visit (in_as_visited). few: the
  // restricted set of terms that `sum` has (FewTerms); null: all terms.
  enum class Documents { out_as_before, in_as_visited };
  void move(Documents how, Index from, Index to, const FewTerms* few, Summary& sum) const;
  void forget_weights();  // drops the weights of the last visit; C is kept instead

  double beyond_few_terms() const;  // ELBO of the whole data minus that of problem()

  const TopicAlloc& alloc_;
  const State& state_;
  std::vector<DocumentRef> documents_;
  const Index search_every_;
  const std::unique_ptr<const FewTerms> few_;  // the documents' terms; null: visits use all terms
  const Problem few_problem_;
  ShareTable visited_;  // topics and counts of the documents at their last visit
};

}  // namespace bnpvi::topics
