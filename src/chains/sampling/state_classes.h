// Known labels in a sampler of hidden Markov models.
#pragma once
#include <vector>

#include "chains/model/sequence_rows.h"
#include "foundation/random.h"

namespace bnpvi::chains {

/// What the labels of the rows in each state leave of its class. A partition is possible if each state can
/// have a class that all its labelled rows allow; those without labelled rows may have any, or none. The law
/// of the states is that of unlabelled rows, given that the partition is possible.
class StateClasses {
 public:
  /// Rows without labels: all is possible, nothing is counted.
  StateClasses(const Dataset& data, const SequenceRows& rows);

  bool labelled() const { return sets_ != nullptr; }

  /// Counts rows anew that have these labels, of k states.
  void begin_with(const std::vector<int>& label, Index k);
  void open();         // a state more, without rows
  void drop(Index j);  // state K − 1 gets the number j
  /// Row t comes to state j, or goes (times = −1).
  void add(Index t, Index j, int times);

  /// True when row t may join state j; K is a new one.
  bool allows(Index t, Index j) const;
  bool may_join(Index a, Index b) const;

  /// For a step that has all rows of a state drawn anew: a class of state j, drawn evenly from those that its
  /// rows allow (0: no class), and the logarithm of its probability.
  int draw_class(Index j, Stream& stream) const;
  double log_draw(Index j) const;

 private:
  bool rules_out(Index t, Index c) const { return !sets_->allows(set_[t], static_cast<int>(c)); }
  Index count_classes(Index j) const;
  const int* ruled_out(Index j) const { return ruled_out_.data() + j * width_; }

  const ClassSets* sets_ = nullptr;
  Index width_ = 0;             // classes, and that of no class
  std::vector<int> set_;        // of each row
  std::vector<int> ruled_out_;  // K × width: rows in a state whose labels rule a class out
};

}  // namespace bnpvi::chains
