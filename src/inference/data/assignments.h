// Explicit q(z), the responsibilities of every row; kept only when the observer of a fit wants it.
#pragma once
#include "inference/learn/alloc_model.h"

namespace bnpvi {

/// Responsibilities of all rows of the data (n × K, column-major: one column a cluster). A plain value with
/// the same operations on clusters as Summary, so that a move applies the same changes to both.
struct Assignments {
  Index n = 0;
  Index k = 0;
  Vec r;
  Vec joint;  // with pairs: P(z_{t−1} = l, z_t = j) of row t at (t K + l) K + j, 0 where a group begins; else
              // empty

  Assignments(Index n, Index k, bool pairs)
      : n(n),
        k(k),
        r(static_cast<std::size_t>(n * k), 0.0),
        joint(pairs ? r.size() * static_cast<std::size_t>(k) : 0) {}

  void set(const Batch& batch, const Index* rows, const Responsibilities& resp);  // these rows, all clusters

  /// Redistributes mass_i (responsibility times weight) of cluster j on row rows[i]: share is rows × m with
  /// rows that sum to 1; the first column stays with j, the others go to the last m − 1 clusters.
  void split(Index j, const Batch& batch, const std::vector<Index>& rows, const Vec& mass, const Vec& share);

  void merge(Index a, Index b);  // a < b
  void drop(Index j);
  void append(Index m);
  void permute(const std::vector<Index>& order);

 private:
  /// joint over `size` states, old state j being number[j] now (−1: gone).
  void renumber_joint(Index size, const std::vector<Index>& number);
};

/// Writes the responsibilities of a local step into Assignments (if any) and hands them on to another sink
/// (if any).
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
