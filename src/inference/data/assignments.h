// Explicit q(z): the responsibilities of all rows. They are stored only if the observer of a fit requires
// them.
#pragma once
#include "inference/learn/alloc_model.h"

namespace bnpvi {

/// Responsibilities of all rows of the data (n × K, column-major: one column per cluster). The changes of
/// clusters (merge, drop, append, permute) are those of Summary, so a move can apply the same changes to
/// both.
struct Assignments {
  Index n = 0;
  Index k = 0;
  Vec r;
  /// In models whose consecutive rows depend on each other: joint probabilities P(z_{t−1} = l, z_t = j) of
  /// the clusters of rows t − 1 and t, at index (t K + l) K + j. They are 0 at the first row of a group.
  /// Empty in other models.
  Vec joint;

  Assignments(Index n, Index k, bool pairs)
      : n(n),
        k(k),
        r(static_cast<std::size_t>(n * k), 0.0),
        joint(pairs ? r.size() * static_cast<std::size_t>(k) : 0) {}

  /// Stores the responsibilities for all clusters of these rows of a batch.
  void set(const Batch& batch, const Index* rows, const Responsibilities& resp);

  /// Divides the mass of cluster j on some rows among m clusters. mass: responsibility × weight of each of
  /// `rows`. share: rows × m, the proportions of each row, which sum to 1. The first column stays with
  /// cluster j; the others go to the last m − 1 clusters.
  void split(Index j, const Batch& batch, const std::vector<Index>& rows, const Vec& mass, const Vec& share);

  void merge(Index a, Index b);  // adds the columns of cluster b to those of a < b, and removes b
  void drop(Index j);
  void append(Index m);
  void permute(const std::vector<Index>& order);

 private:
  /// Renumbers the joint probabilities for `size` clusters: the old cluster j becomes number[j] (−1:
  /// removed).
  void renumber_joint(Index size, const std::vector<Index>& number);
};

/// Receives the responsibilities that a local step (update of q(z) at fixed parameters) finds. Stores them in
/// an Assignments, and passes them on to another receiver; either may be null.
class AssignmentSink final : public ResponsibilitySink {
 public:
  AssignmentSink(Assignments* out, const Batch& batch, ResponsibilitySink* next)
      : out_(out), batch_(batch), next_(next) {}
  void begin(Index n_chunks) override;
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;
  bool wants_joint() const override { return out_ && !out_->joint.empty(); }
  void visit_joint(Index row, const Vec& joint) override;
  bool wants_messages() const override { return next_ && next_->wants_messages(); }
  void visit_messages(Index row, const double* r, const double* alpha, const double* nu,
                      double scale) override {
    next_->visit_messages(row, r, alpha, nu, scale);
  }

 private:
  Assignments* out_;
  const Batch& batch_;
  ResponsibilitySink* next_;
};

}  // namespace bnpvi
