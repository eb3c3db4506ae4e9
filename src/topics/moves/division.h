// Replaces one or several topics by new ones, among which their tokens are divided.
#pragma once
#include "foundation/random.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// How one or several topics are divided into new ones: into as many as their words can distinguish (anchors,
/// see anchor_words.h), or by clusters of documents.
enum class Division { anchors, clusters };

/// The k new topics that replace the divided ones, as they begin. t: their statistics, k × p, with T_0 in
/// tokens.
struct Seeds {
  Index k = 0;
  Vec t;
  Vec residual =
      {};  // for each document of the target (ResponseModel::residual): decides with which topic it starts
};

/// Divides a target, one or several topics, into new topics in all documents that use the target. The state
/// must outlive this object.
class TopicDivision {
 public:
  /// target: numbers of the topics to be divided, in ascending order.
  TopicDivision(const MoveContext& context, const TopicAlloc& alloc, const State& state,
                std::vector<Index> target);

  /// Whether no document uses the target so much that dividing would be worthwhile.
  bool empty() const { return documents_.empty(); }

  /// Finds at most k topics that could replace the target (the divided topics), in tokens of the target.
  /// These come from at most 4,096 documents (256 for clusters, unless the target is the only topic of
  /// documents of counts). With many tokens anchors may find more than k, but never more than `limit`.
  Seeds seeds(Division how, Index k, Index limit, Stream& stream) const;

  /// Finds two topics that could replace the target (the divided topics): one from documents whose response
  /// is above its expectation, one from documents whose response is below. Each is formed from the half of
  /// these documents with the larger residuals (at most 256). Returns no topics if there are no responses.
  Seeds seeds_by_residual() const;

  /// Change of the log evidence of the tokens if the topics of `seed` replaced the target (the divided
  /// topics), before any document is visited.
  double forecast(const Seeds& seed) const;

  /// Proposes to replace the target (the divided topics) by the topics of `seed`. The first of these keeps
  /// the number of the target, and its mass in data that are no longer available. `room` names other topics
  /// to be removed. If K is fixed, as many topics are added as are removed; some may be empty.
  std::unique_ptr<TopicEdit> edit(Seeds seed, Room room) const;

 private:
  struct Part;
  Part part_of(const std::vector<DocumentRef>& documents) const;
  Seeds clusters(const Part& part, Index k, Stream& stream) const;
  void add_statistic(const Part& part, double times, double* t) const;  // each part multiplied by `times`
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
