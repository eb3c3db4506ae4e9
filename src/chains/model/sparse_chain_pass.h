// The local step (update of q(z)) of a hidden Markov model in which each row may be in L states only.
#pragma once
#include "chains/messages/sparse_messages.h"
#include "chains/model/chain_memory.h"
#include "chains/model/sequence_rows.h"

namespace bnpvi::chains {

/// Visits sequences whose rows may be in L states each (L-sparse) in three sweeps. The first passes messages
/// from the left over the stored sets of states; in a first visit it chooses the sets instead. The second
/// runs from the right and replaces each set by its best one. The third is forward–backward over the new
/// sets, which gives the summary (sums of statistics).
///
/// Memory: about 30 L bytes for each row of the sequences being processed, and the log-likelihoods of all K
/// states for one segment of 1,024 rows. It is two segments if threads share a long sequence: while a sweep
/// works on one, the log-likelihoods of the next are computed.
class SparseChainPass {
 public:
  /// The remembered sets of states are read from in.memory, and new ones are written to `memory`. same_sets:
  /// the sets are left as they are.
  SparseChainPass(const Visit& in, const Chain& chain, const SummaryShape& shape, const Piece& piece,
                  Pool* pool, UnitMemory& memory, bool same_sets);

  /// Processes the next sequences of the piece (consecutive sequences whose statistics are summed together).
  void run(const SequenceRows& sequences);

  /// The summary of all sequences passed to run().
  Summary finish();

 private:
  struct Segment {
    // rows × K: log-likelihoods of all states, and their exponentials relative to each row's largest
    Buffer log_e, e;
    Buffer top;
  };
  enum class Direction { rightwards, leftwards };

  template <class Numbers>
  bool choose(const SequenceRows& s, bool log_space);
  template <class Numbers>
  bool pass(const SequenceRows& s, bool log_space);
  /// Sweeps over the segments (ranges of rows) of s in the given direction. For each segment it calls
  /// load(part, from, n) for its chunks, then sweep(from, n). The next segment may be loaded during a sweep.
  /// Stops and returns false when a sweep returns false.
  template <class Load, class Sweep>
  bool go(const SequenceRows& s, Direction direction, Load load, Sweep sweep);
  /// Sweeps over s from right to left in groups of eight consecutive segments (ranges of rows). For each
  /// group it calls sweep(from, n), then use(part, from, n) for its chunks. use() may run during the sweep of
  /// the next group.
  template <class Sweep, class Use>
  void go_back(const SequenceRows& s, Sweep sweep, Use use);
  void collect(const SequenceRows& s, Index part, Index from, Index n);
  Segment& segment_at(Index row);
  void load_all(const SequenceRows& s, Index part, Index from, Index n);
  void load_sets(const SequenceRows& s, Index part, Index from, Index n);
  // Marks the states that the label of a row excludes as impossible in the set of states of the row, for the
  // rows of the block. from: row of s at which the block begins.
  void exclude_from_sets(const FeatureBlock& block, Index from);
  void recall(const SequenceRows& s, Index part, Index from, Index n);
  void make_set_potentials(Index from, Index n, bool log_space);
  void tell_joint(const SequenceRows& s, Index t, const double* joint);
  SparseRows view(const SequenceRows& s);

  const Visit& in_;
  const Chain& chain_;
  const SummaryShape shape_;
  PieceWork work_;
  const UnitMemory* last_;
  UnitMemory& memory_;
  Index row_;  // row of the memory (SupportTable) at which the next sequences begin
  const Index width_;
  const bool same_sets_;
  // rows × L: the states that each row may be in; log_e_, e_ and alpha_ have the same shape
  std::vector<int> state_;
  Buffer log_e_, e_, alpha_, scale_;
  // segments (ranges of rows) being processed: one, or two if one is loaded during the sweep of the other
  std::vector<Segment> segments_;
  Vec start_count_, pair_, log_space_pair_;
  double entropy_ = 0;
};

}  // namespace bnpvi::chains
