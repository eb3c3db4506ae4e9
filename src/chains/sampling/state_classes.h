// Known class labels of rows, in a sampler of hidden Markov models.
#pragma once
#include <vector>

#include "chains/model/sequence_rows.h"
#include "foundation/random.h"

namespace bnpvi::chains {

/// The classes that each state may have, given the labels of its rows. A state without labelled rows may have
/// any class, or none. A partition of the rows into states is possible if each state has at least one class
/// that all its labelled rows allow. The prior of the states is that of unlabelled rows, given that the
/// partition is possible.
class StateClasses {
 public:
  /// If the rows of the data have no labels, every partition into states is possible and nothing is counted.
  StateClasses(const Dataset& data, const SequenceRows& rows);

  bool labelled() const { return sets_ != nullptr; }

  /// Counts the labels of all rows anew. label: the state of each row, one of k states.
  void begin_with(const std::vector<int>& label, Index k);
  void open();         // adds a state without rows
  void drop(Index j);  // removes state j; state K − 1 gets the number j
  /// Records that row t joins state j (times = 1) or leaves it (times = −1).
  void add(Index t, Index j, int times);

  /// True if the row's label allows it to join state j, given the labels of the other rows of the state. j =
  /// K: a new state.
  bool allows(Index t, Index j) const;
  bool may_join(Index a, Index b) const;

  /// Draws a class for state j uniformly from those that all its rows allow (0: no class), for a step that
  /// then draws all rows anew. log_draw(): the log probability of that class.
  int draw_class(Index j, Stream& stream) const;
  double log_draw(Index j) const;

 private:
  bool rules_out(Index t, Index c) const { return !sets_->allows(set_[t], static_cast<int>(c)); }
  Index count_classes(Index j) const;
  const int* ruled_out(Index j) const { return ruled_out_.data() + j * width_; }

  const ClassSets* sets_ = nullptr;
  Index width_ = 0;             // number of classes, plus 1 for states without a class
  std::vector<int> set_;        // for each row, the set of classes that its label allows
  std::vector<int> ruled_out_;  // K × width: how many rows of a state exclude a class
};

}  // namespace bnpvi::chains
