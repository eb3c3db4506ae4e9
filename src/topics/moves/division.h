// What the documents have of a topic, or of several, divided among new ones.
#pragma once
#include "foundation/random.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// Into as many as the words can tell apart (anchor_words.h), or by clusters of documents.
enum class Division { anchors, clusters };

/// What the topics that replace the target begin with: k × p, with T_0 in tokens.
struct Seeds {
  Index k = 0;
  Vec t;
  Vec residual =
      {};  // of each document of the target (ResponseModel::residual), which decides where it starts
};

/// A target, one topic or several, that is divided anew in all documents that have something of it. The
/// state must outlive it.
class TopicDivision {
 public:
  /// target: ascending.
  TopicDivision(const MoveContext& context, const TopicAlloc& alloc, const State& state,
                std::vector<Index> target);

  /// No document has anything of the target that would be worth moving.
  bool empty() const { return documents_.empty(); }

  /// Topics found in what at most 4,096 documents (for clusters 256, but of the only topic of documents of
  /// counts) have of the target: at most k of them, by anchors more where there are many tokens, but never
  /// more than `limit`.
  Seeds seeds(Division how, Index k, Index limit, Stream& stream) const;

  /// Two topics, of documents whose response is above and below its expectation, of each the half with the
  /// larger residuals (at most 256). None if there are no responses.
  Seeds seeds_by_residual() const;

  /// Puts the topics of `seed` in place of the target. The first keeps its number and its settled mass; other
  /// topics are removed as `room` says. If K is fixed, as many topics are added as are removed, some of them
  /// empty.
  std::unique_ptr<TopicEdit> edit(Seeds seed, Room room) const;

 private:
  struct Part;
  Part part_of(const std::vector<DocumentRef>& documents) const;
  Seeds clusters(const Part& part, Index k, Stream& stream) const;
  void add_statistic(const Part& part, double times, double* t) const;  // `times` each
  void add_settled(Seeds& seed) const;
  bool worth_dividing(Shares shares) const;
  std::vector<DocumentRef> documents_and(const Room& room) const;
  void share_by_residual(const Seeds& seed, Index target, Index born, TopicEdit& edit) const;

  const MoveContext& c_;
  const TopicAlloc& alloc_;
  const State& state_;
  const std::vector<Index> target_;
  std::vector<DocumentRef> documents_;  // with at least half a token of the target
};

}  // namespace bnpvi::topics
