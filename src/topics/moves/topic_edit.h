// A proposal to change a topic model: some documents are visited again under changed topics.
#pragma once
#include "inference/moves/edit.h"
#include "topics/moves/few_terms.h"

namespace bnpvi::topics {

/// A proposal that changes the list of topics and visits some documents under the changed topics. Each of
/// these documents has a start: topics, numbered as after the changes, with counts. At first these are the
/// counts of its last visit, joined and renumbered. The caller then divides them among new topics and calls
/// begin(). The state must outlive the rounds of visits.
class TopicEdit final : public Edit {
 public:
  /// documents: the documents to be visited, in the order of the batches. They must include all documents
  /// that use a dropped topic, or several of the topics that are joined. search_every: in rounds 1, 1 +
  /// search_every, 1 + 2 search_every, ... documents also search for optima that are not near their start.
  TopicEdit(const MoveContext& context, const TopicAlloc& alloc, const State& state,
            std::vector<DocumentRef> documents, Changes changes, Index search_every);

  Index n() const { return static_cast<Index>(documents_.size()); }
  const DocumentRef& document(Index i) const { return documents_[i]; }

  /// For each document, the topics and counts with which it starts. Empty list: the document starts without
  /// any.
  std::vector<std::vector<Share>> start;
  /// What the first round of visits uses. topics: statistics of the topics, for the terms (words) in
  /// problem(). weights_of_topics: K + 1 numbers. Both are 0 for new topics until the caller sets them.
  Summary topics;
  Vec weights_of_topics;
  /// If the proposal is a division: the numbers of the new topics that replace the divided ones.
  std::vector<Index> divided;

  /// Sets the statistic t of topic j for the first round of visits. t has all terms (words).
  void set_topic(Index j, const double* t);

  /// Begins the rounds of visits at the posterior of the parameters that follows from `topics`.
  void begin() { begin_at(alloc_.globals_at(std::move(topics), weights_of_topics)); }

  /// Makes further changes of the list of topics after a round of visits. Rounds then begin again from the
  /// topics and counts that documents have now.
  void begin_again(const Changes& more);

  const Problem& problem() const override { return few_ ? few_problem_ : c_.problem; }

 private:
  void apply(const Changes& changes);  // changes everything except the documents' counts
  void visit(const Globals& globals, Summary& total) override;
  bool worth_sending(Index k) const;  // true if other processes should make the visits
  void put_back(State& edited) override;

  // Saves memory in what is stored of the documents. For batches where this takes less memory, stores the
  // expected log-likelihoods C of words instead of the weights of topics from which C is computed. Not where
  // rows hide something, whose expectations need the weights.
  void condense(std::vector<std::shared_ptr<Summary>>& batches) const;

  // Changes the statistics `sum` by the documents from .. to − 1. out_as_before: subtracts them with the
  // counts that they have in the state. in_as_visited: adds them with the counts of their last visit. few:
  // `sum` has the restricted set of terms `few` (FewTerms); null: all terms.
  enum class Documents { out_as_before, in_as_visited };
  void move(Documents how, Index from, Index to, const FewTerms* few, Summary& sum) const;
  // drops the weights of topics at the last visit, and stores the expected log-likelihoods C instead
  void forget_weights();

  double beyond_few_terms() const;  // ELBO of all data minus the ELBO of problem()

  const TopicAlloc& alloc_;
  const State& state_;
  std::vector<DocumentRef> documents_;
  const Index search_every_;
  // copy restricted to the documents' terms; null: visits use all terms
  const std::unique_ptr<const FewTerms> few_;
  const Problem few_problem_;
  ShareTable visited_;  // topics and counts of the documents at their last visit
};

}  // namespace bnpvi::topics
