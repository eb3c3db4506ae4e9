// How joining clusters changes statistics that are not sums over rows, computed from an explicit q(z).
#pragma once
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

struct Globals;

/// For each pair of clusters, how joining them changes their summary: the difference between the summary
/// after the join and the sum of the two clusters' statistics. Value 0 of a pair is the change of the entropy
/// of q(z), which becomes smaller. The other values are the changes of the joined cluster's further
/// statistics (Summary::extra). The identity of a cluster, 0 .. K − 1, is its number at the beginning; a
/// joined cluster keeps the identity of its first part.
class JoinChanges {
 public:
  JoinChanges(Index k, Index q) : k_(k), width_(1 + q), value_(static_cast<std::size_t>(k * k * width_)) {}

  double* of(Index a, Index b) { return value_.data() + place(a, b); }
  const double* of(Index a, Index b) const { return value_.data() + place(a, b); }

  void add(const JoinChanges& other);
  void merge(Index a, Index b);  // adds the changes of pairs with b to those of pairs with a

 private:
  Index place(Index a, Index b) const { return (a < b ? a * k_ + b : b * k_ + a) * width_; }

  Index k_, width_;
  Vec value_;
};

/// Some units with explicit q(z), in which clusters can be joined. The responsibility of a joined cluster is
/// the sum of those of its two parts. Used by one thread at a time.
class Joins {
 public:
  virtual ~Joins() = default;

  /// Adds to `out`, for each pair of clusters, how joining the pair changes the summary (sums of statistics)
  /// of these units (JoinChanges).
  virtual void add_changes(JoinChanges& out) = 0;

  /// Joins cluster b to a in these units (rows or groups of rows). This changes what joins of other pairs
  /// would do; these differences are added to `out`. Pairs with b are still stored under b, until
  /// JoinChanges::merge() is called.
  virtual void join(Index a, Index b, JoinChanges& out) = 0;

  /// For models whose further statistics are linear bounds (tangents), computed at earlier globals (posterior
  /// of the parameters). Computes the tangents at the given globals, adds their values to extra (K × q, rows
  /// by present number of the cluster), and returns true. number[id]: the present number of the cluster with
  /// this identity. Other models do nothing and return false.
  virtual bool settle(const Globals& /*globals*/, const std::vector<Index>& /*number*/,
                      Vec& /*extra*/) const {
    return false;
  }
};

/// The units of a visit with their explicit q(z), divided into consecutive parts; each part is a Joins.
using JoinParts = std::vector<std::unique_ptr<Joins>>;

/// The term −x log x of an entropy; 0 at x = 0.
double entropy_part(double x);

/// An item of a JoinTable: a row, a word or a pair of rows, which belongs to a few clusters.
struct JoinItem {
  int* id;        // identities of its clusters (their numbers before any join), length `size`
  double* value;  // its values, in the layout that Kind defines
  Index size;
  double weight;
};

/// A table of items (rows, words or pairs of rows) of one kind, each of which belongs to a few clusters. Kind
/// has
///   add(item, sign, i, j, out): adds sign × the changes of the item to `out`, at least for pairs with
///     its i-th or j-th cluster (−1: none) or, with i = −1, for all pairs;
///   join(item, i, j): adds the values of the j-th cluster to the i-th and removes them; the remaining
///     values stay packed;
///   join_ids(a, b): updates what Kind stores by the identity of clusters.
template <class Kind>
class JoinTable : public Joins {
 public:
  explicit JoinTable(Kind kind = {}) : kind_(std::move(kind)) {}

  void append(const std::vector<int>& id, const Vec& value, double weight) {
    first_id_.push_back(id_.size());
    first_value_.push_back(value_.size());
    size_.push_back(static_cast<int>(id.size()));
    weight_.push_back(weight);
    id_.insert(id_.end(), id.begin(), id.end());
    value_.insert(value_.end(), value.begin(), value.end());
  }

  void add_changes(JoinChanges& out) override {
    for (std::size_t i = 0; i < size_.size(); ++i) kind_.add(item(i), 1, -1, -1, out);
  }

  void join(Index a, Index b, JoinChanges& out) override {
    for (std::size_t n = 0; n < size_.size(); ++n) {
      const JoinItem x = item(n);
      const Index i = find(x, a), j = find(x, b);
      if (i >= 0 || j >= 0) kind_.add(x, -1, i < 0 ? j : i, j, out);
    }
    kind_.join_ids(a, b);
    for (std::size_t n = 0; n < size_.size(); ++n) {
      JoinItem x = item(n);
      Index i = find(x, a);
      const Index j = find(x, b);
      if (i < 0 && j < 0) continue;
      if (i < 0) x.id[i = j] = static_cast<int>(a);
      if (i != j && j >= 0) {
        kind_.join(x, i, j);
        std::copy(x.id + j + 1, x.id + x.size, x.id + j);
        x.size = --size_[n];
        if (i > j) --i;
      }
      kind_.add(x, 1, i, -1, out);
    }
  }

 protected:
  Index n_items() const { return static_cast<Index>(size_.size()); }
  JoinItem item(std::size_t i) {
    return {id_.data() + first_id_[i], value_.data() + first_value_[i], size_[i], weight_[i]};
  }
  const int* ids(Index i) const { return id_.data() + first_id_[i]; }
  const double* values(Index i) const { return value_.data() + first_value_[i]; }
  Index size(Index i) const { return size_[i]; }
  double weight(Index i) const { return weight_[i]; }

 private:
  static Index find(const JoinItem& x, Index id) {
    for (Index i = 0; i < x.size; ++i)
      if (x.id[i] == id) return i;
    return -1;
  }

  Kind kind_;
  std::vector<std::size_t> first_id_, first_value_;
  std::vector<int> size_, id_;
  Vec weight_, value_;
};

/// A Kind for JoinTable (see there) whose items are distributions over clusters: s values that sum to 1. The
/// entropy of an item counts `weight` times.
class AloneKind {
 public:
  void add(const JoinItem& x, double sign, Index i, Index j, JoinChanges& out);
  void join(const JoinItem& x, Index i, Index j) const;
  void join_ids(Index, Index) const {}

 private:
  Vec part_;
};

}  // namespace bnpvi
