// Replaces one or several topics by new ones, among which their tokens are divided.
#pragma once
#include "foundation/random.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// How topics are divided into new ones. anchors: into as many topics as the words of their tokens can
/// distinguish (anchor_words.h). clusters: by clusters of documents.
enum class Division { anchors, clusters };

/// The k new topics that are to replace the divided ones, at their start. t: their statistics, k × p; the
/// first of the p numbers counts tokens.
struct Seeds {
  Index k = 0;
  Vec t;
  // for each document that uses the divided topics, the residual of its response (ResponseModel::residual),
  // which decides with which new topic it starts
  Vec residual = {};
};

/// Divides one or several topics, the target, into new topics. All documents that use the target take part.
/// The state must outlive this object.
class TopicDivision {
 public:
  /// target: numbers of the topics to be divided, in ascending order.
  TopicDivision(const MoveContext& context, const TopicAlloc& alloc, const State& state,
                std::vector<Index> target);

  /// True if no document uses the target so much that a division would be worthwhile.
  bool empty() const { return documents_.empty(); }

  /// Finds at most k topics that could replace the target (the divided topics), from tokens of the target. It
  /// looks at no more than 4,096 documents; with Division::clusters at 256, unless the target is the only
  /// topic and documents are counts. With many tokens Division::anchors may find more than k topics, but
  /// never more than `limit`.
  Seeds seeds(Division how, Index k, Index limit, Stream& stream) const;

  /// Finds two topics that could replace the target (the divided topics). One is formed from documents whose
  /// response is above its expectation, the other from documents whose response is below. Only the half of
  /// all these documents with the larger residuals is used, at most 256. Returns no topics if there are no
  /// responses.
  Seeds seeds_by_residual() const;

  /// Forecast of the change of the tokens' log evidence if the topics of `seed` replace the target (the
  /// divided topics). No document is visited. Infinite where rows hide something (ExpectedCells): statistics
  /// of `seed` then do not have its entropy.
  double forecast(const Seeds& seed) const;

  /// Proposes to replace the target (the divided topics) by the topics of `seed`. The first of these keeps
  /// the number of the target, and the target's tokens in data that are no longer available. room: other
  /// topics to be removed in the same proposal. If the number of topics is fixed, as many topics are added as
  /// are removed; some of them may be empty.
  std::unique_ptr<TopicEdit> edit(Seeds seed, Room room) const;

 private:
  struct Part;
  Part part_of(const std::vector<DocumentRef>& documents) const;
  Seeds clusters(const Part& part, Index k, Stream& stream) const;
  // adds the statistic, multiplied by `times`, to t
  void add_statistic(const Part& part, double times, double* t) const;
  void add_settled(Seeds& seed) const;
  bool worth_dividing(Shares shares) const;
  std::vector<DocumentRef> documents_and(const Room& room) const;
  void share_by_residual(const Seeds& seed, Index target, Index born, TopicEdit& edit) const;

  const MoveContext& c_;
  const TopicAlloc& alloc_;
  const State& state_;
  const std::vector<Index> target_;
  std::vector<DocumentRef> documents_;  // documents with at least half a token of the target
};

}  // namespace bnpvi::topics
