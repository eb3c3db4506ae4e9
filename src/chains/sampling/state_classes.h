// Known class labels of rows, in a sampler of hidden Markov models.
#pragma once
#include <vector>

#include "chains/model/sequence_rows.h"
#include "foundation/random.h"

namespace bnpvi::chains {

/// The classes that each state may have, given the known labels of its rows. A state without labelled rows
/// may have any class, or none. A partition of the rows into states is possible if for each state at least
/// one class is allowed by all its labelled rows. The prior of the states is that of a model without labels,
/// given that the partition is possible.
class StateClasses {
 public:
  /// If the data have no labels, every partition into states is possible, and the object counts nothing.
  StateClasses(const Dataset& data, const SequenceRows& rows);

  bool labelled() const { return sets_ != nullptr; }

  /// Counts the labels of all rows anew. label: the state of each row, 0 .. k − 1.
  void begin_with(const std::vector<int>& label, Index k);
  void open();         // adds a state without rows
  void drop(Index j);  // removes state j; state K − 1 gets the number j
  /// Records that row t joins state j (times = 1) or leaves it (times = −1).
  void add(Index t, Index j, int times);

  /// True if row t may join state j: at least one class is allowed by the row's label and by the labels of
  /// the other rows of the state. j = K: a new state.
  bool allows(Index t, Index j) const;
  bool may_join(Index a, Index b) const;

  /// Draws a class for state j, each with the same probability, from the classes that all rows of the state
  /// allow (0: no class). For a step that then draws the states of all rows anew. log_draw(): the log
  /// probability of that class.
  int draw_class(Index j, Stream& stream) const;
  double log_draw(Index j) const;

 private:
  bool rules_out(Index t, Index c) const { return !sets_->allows(set_[t], static_cast<int>(c)); }
  Index count_classes(Index j) const;
  const int* ruled_out(Index j) const { return ruled_out_.data() + j * width_; }

  const ClassSets* sets_ = nullptr;
  Index width_ = 0;       // number of classes, plus 1 for states without a class
  std::vector<int> set_;  // for each row, the set of classes that its label allows
  // K × width: for each state and class, how many rows of the state exclude the class
  std::vector<int> ruled_out_;
};

}  // namespace bnpvi::chains
