// The contract of a move, and the moves there are.
#pragma once
#include <memory>
#include <utility>

#include "failed_pairs.h"
#include "learn.h"
#include "state.h"

namespace bnpvi {

/// What is remembered of a cluster from lap to lap.
struct ClusterHistory {
  std::uint64_t id = 0;         // never reused
  double birth_failed_at = -1;  // size when a birth from it last failed, −1: never
  int birth_failures = 0;
  double delete_failed_at = -1;
};

/// Memory of failed targets: a target is tried again once the cluster has changed its size.
class MoveMemory {
 public:
  /// k clusters, of which an observation (a token, in documents of counts) costs p operations.
  MoveMemory(Index k, Index p) : p_(static_cast<double>(p)) { append(k); }

  Index size() const { return static_cast<Index>(clusters_.size()); }
  std::uint64_t id(Index j) const { return clusters_[j].id; }
  Index number_of(std::uint64_t id) const;  // its present number, −1 when it is gone
  void append(Index m);
  void drop(Index j);
  void permute(const std::vector<Index>& order);

  void merge_failed(Index a, Index b, double size_a, double size_b);
  bool merge_worth_trying(Index a, Index b, double size_a, double size_b) const;

  /// hopeless: the pair shares too little to be tried again before it has changed.
  void resplit_failed(Index a, Index b, double size_a, double size_b, bool hopeless);
  bool resplit_worth_trying(Index a, Index b, double size_a, double size_b) const;

  /// unsplit: the birth fell back to one cluster by itself, which proves more than a rejected split.
  void birth_failed(Index j, double size, bool unsplit = false);
  void birth_succeeded(Index j);
  /// at_least: failures that are allowed in any case.
  bool birth_worth_trying(Index j, double size, int at_least = 0) const;
  int birth_failures(Index j) const { return clusters_[j].birth_failures; }

  void delete_failed(Index j, double size) { clusters_[j].delete_failed_at = size; }
  bool delete_worth_trying(Index j, double size) const;

 private:
  int allowed_failures(double size) const;

  double p_;
  std::vector<ClusterHistory> clusters_;
  FailedPairs failed_merges_, failed_resplits_;
  std::uint64_t next_id_ = 0;
};

struct MoveContext {
  const Problem& problem;
  const MoveOptions& options;
  MoveMemory& memory;
  Pool& pool;
  Index lap;
};

/// Proposals of one kind during one lap. A proposal is a new State that replaces the old one only if its
/// ELBO is larger; otherwise the old State is untouched.
class Move {
 public:
  virtual ~Move() = default;

  /// Chooses what to try in the coming lap; false when there is nothing.
  virtual bool prepare(const State& state) = 0;
  /// Called before batch b is visited; the sink (may be nullptr) sees its responsibilities.
  virtual ResponsibilitySink* watch(const State& /*state*/, Index /*b*/) { return nullptr; }
  /// Called after batch b was visited and the globals renewed (not the ELBO); may replace the state.
  virtual void after_batch(State&, Index /*b*/) {}
  /// Called once all batches were visited and the ELBO is up to date; may replace the state.
  virtual void after_lap(State&) {}

  /// Adds what was tried and accepted to the lap's record.
  virtual void report(LapRecord& record) const = 0;

 protected:
  Index tried_ = 0, accepted_ = 0;
};

/// ELBO differences below this are rounding, not progress.
double rounding_of(double elbo);

/// Applies an operation of Summary and Assignments to the total, to every batch and to the assignments, if
/// any.
template <class Operation>
void change_summaries(const Problem& problem, State& state, Operation op) {
  if (state.assignments) op(*state.assignments);
  const auto one = [&](Index i) {
    if (i == 0) return op(state.total);
    auto& batch = state.batch[i - 1];
    if (!batch) return;
    auto changed = std::make_shared<Summary>(*batch);
    op(*changed);
    batch = std::move(changed);
  };
  const Index n = static_cast<Index>(state.batch.size()) + 1;
  if (problem.pool) return problem.pool->run(n, one);
  for (Index i = 0; i < n; ++i) one(i);
}

/// Identities of the clusters to try births from: those whose births have not failed lately, fewest
/// failures and then most mass first, at most max_births. at_least: failures that are allowed in any case.
std::vector<std::uint64_t> birth_targets(const MoveContext& context, const State& state, int at_least = 0);

/// The summary with nothing but N_k of the observations' statistics: what the allocation model's terms need.
Summary allocation_part(const Summary& s);

/// The state with cluster b joined to a < b, at optimal globals; entropy[batch] is the exact change of the
/// entropy of that batch.
State with_merged(const Problem& problem, const State& state, Index a, Index b, const Vec& entropy);

/// Λ(T_a + T_b) − Λ(T_a) − Λ(T_b), K × K symmetric: for all pairs, or, when there are more than 2^7 clusters,
/// for each cluster and the 2^5 nearest to it (nearest_clusters), −∞ elsewhere.
Vec evidence_of_merging(const ObsModel& obs, const Summary& total, Pool& pool);

class MixtureAlloc;
class TopicAlloc;

/// Birth within one cluster [Hughes 2016, §4.2], on its rows in all batches.
std::unique_ptr<Move> make_mixture_birth(const MoveContext& context, const MixtureAlloc& alloc);
/// Two overlapping clusters are joined and split anew; tried when no other move is left.
std::unique_ptr<Move> make_mixture_resplit(const MoveContext& context, const MixtureAlloc& alloc);
/// Merge of pairs of clusters [Hughes 2016, §4.1].
std::unique_ptr<Move> make_mixture_merge(const MoveContext& context, const MixtureAlloc& alloc);
/// Deletion of one cluster, its rows reassigned by restricted local steps [Hughes 2016, §4.3].
std::unique_ptr<Move> make_mixture_delete(const MoveContext& context, const MixtureAlloc& alloc);

/// The same for topic models, each by visiting the documents concerned again [Hughes 2016, §5.5].
std::unique_ptr<Move> make_topic_birth(const MoveContext& context, const TopicAlloc& alloc);
std::unique_ptr<Move> make_topic_merge(const MoveContext& context, const TopicAlloc& alloc);
std::unique_ptr<Move> make_topic_delete(const MoveContext& context, const TopicAlloc& alloc);

/// Clusters by decreasing size when that raises the ELBO of an ordered allocation model; clusters without
/// any mass are removed when K may vary. Returns true when anything changed.
bool reorder(const Problem& problem, State& state, MoveMemory& memory, bool remove_empty);

}  // namespace bnpvi
