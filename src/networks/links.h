// A network: its nodes, its links, and the pairs of nodes that were not observed.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "foundation/class_sets.h"
#include "foundation/types.h"

namespace bnpvi::networks {

/// The rows of a sparse n × n table. Row i has the entries start[i] .. start[i + 1] − 1 of `other` and
/// `value`.
struct SparseRows {
  std::vector<Index> start{0};
  std::vector<int> other;  // the column of each entry
  Vec value;               // value of each entry, > 0; empty where only the positions matter
};

/// A network of n nodes, numbered from 0. A pair of nodes is {i, j} with i < j or, in a directed network, (i,
/// j) with i ≠ j. Every pair has a value y ≥ 0. It is a link if y > 0; only links are stored. The values of
/// hidden pairs (missing or held out) are unknown. Links of a node with itself are allowed in one model only
/// (degrees.h).
class Links {
 public:
  /// from, to: the two ends of each link. A pair may occur once only, in an undirected network in either
  /// order. hidden_from, hidden_to: the ends of the hidden pairs, in the same way. loops: the number of links
  /// of each node with itself, or empty. Throws std::invalid_argument when a number is not that of a node, or
  /// the two ends of a link are not a pair.
  Links(Index n, bool directed, const std::vector<int>& from, const std::vector<int>& to, const Vec& value,
        const std::vector<int>& hidden_from, const std::vector<int>& hidden_to, const Vec& loops = {});

  Index n() const { return n_; }
  bool directed() const { return directed_; }
  Index n_links() const { return static_cast<Index>(from_.size()); }
  double n_pairs() const;                                                // number of observed pairs
  double units() const { return static_cast<double>(n() + n_links()); }  // units of data (Fit::units)
  double n_hidden() const { return static_cast<double>(hidden_from_.size()); }
  double total() const { return total_; }  // Σ y over the links
  double loops(Index i) const { return loops_.empty() ? 0 : loops_[i]; }

  /// Ends (from 0) and values of the links, in the given order.
  const std::vector<int>& from() const { return from_; }
  const std::vector<int>& to() const { return to_; }
  const Vec& value() const { return value_; }
  const std::vector<int>& hidden_from() const { return hidden_from_; }
  const std::vector<int>& hidden_to() const { return hidden_to_; }

  /// The links of each node. out(): links that leave the node; in an undirected network all its links. in():
  /// links that arrive; in an undirected network none. hidden_out(), hidden_in(): the hidden pairs in the
  /// same way.
  const SparseRows& out() const { return out_; }
  const SparseRows& in() const { return in_; }
  const SparseRows& hidden_out() const { return hidden_out_; }
  const SparseRows& hidden_in() const { return hidden_in_; }

  /// Sets known labels of nodes. set: for each node the number of its set of classes (ClassSets), or 0 for a
  /// node without a label. Throws std::invalid_argument when there is not one number for each node.
  void know(ClassSets classes, std::vector<int> set);
  bool labelled() const { return !set_.empty(); }
  bool has_label(Index i) const { return labelled() && set_[i] > 0; }
  Index n_classes() const { return classes_.n_classes; }
  /// True when node i may be in a community that belongs to class `owner` (owners.h).
  bool allows(Index i, int owner) const { return set_.empty() || classes_.allows(set_[i], owner); }

  /// Checks whether the user has interrupted. Loops over nodes, links or communities call poll() with their
  /// index. In every 32nd call it calls the function set by poll_by(), if there is one. That function throws
  /// Interrupted to stop the loop.
  void poll(Index i) const {
    if (i % 32 == 0 && ask_) ask_();
  }
  void poll_by(std::function<void()> ask) { ask_ = std::move(ask); }
  /// Reports work that grows with the number of communities to the function set by spend_by(). products: the
  /// work as a number of multiplications (Pool::spend). Work that is done once for each node and link is
  /// reported by poll() instead.
  void spend(double products) const {
    if (spend_) spend_(products);
  }
  void spend_by(std::function<void(double)> count) { spend_ = std::move(count); }

 private:
  Index n_;
  bool directed_;
  double total_ = 0;
  std::vector<int> from_, to_, hidden_from_, hidden_to_;
  Vec value_, loops_;
  SparseRows out_, in_, hidden_out_, hidden_in_;
  ClassSets classes_;
  std::vector<int> set_;  // number of each node's set of classes; empty where no node has a label
  std::function<void()> ask_;
  std::function<void(double)> spend_;
};

/// Costs as multiples of the time of one multiplication, measured on a network of US airports: of one
/// community of a node (with digamma, log Γ and log), of one community of a link, and of looking up the
/// evidence of a block in a table. With these numbers a second of learning counts as about as much work as in
/// mixtures.
constexpr double products_of_node_part = 100, products_of_link_part = 8, products_of_block = 8;

/// Calls f(i, j, y, of_i, of_j) once for every link that has at least one end in `nodes`. The link leads from
/// i to j (in an undirected network in either order) and has value y. of_i, of_j: whether i and j are in
/// `nodes`. among: scratch of n zeros, which is zero again at the end.
template <class F>
void each_link_of(const Links& links, const std::vector<int>& nodes, std::vector<char>& among, F f) {
  for (int i : nodes) among[i] = 1;
  for (int i : nodes) {
    // A link with both ends in `nodes` is met at either end. This is true at one of the two.
    const auto first = [&](int j) { return !among[j] || i < j; };
    for (Index e = links.out().start[i]; e < links.out().start[i + 1]; ++e) {
      const int j = links.out().other[e];
      if (first(j)) f(i, j, links.out().value[e], true, among[j] != 0);
    }
    for (Index e = links.in().start[i]; e < links.in().start[i + 1]; ++e) {
      const int j = links.in().other[e];
      if (first(j)) f(j, i, links.in().value[e], among[j] != 0, true);
    }
  }
  for (int i : nodes) among[i] = 0;
}

}  // namespace bnpvi::networks
