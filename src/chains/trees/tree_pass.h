// The local step of hidden Markov trees.
#pragma once
#include "chains/model/sequence_rows.h"
#include "chains/trees/tree_messages.h"

namespace bnpvi::chains {

/// Upward–downward over trees, with the summary of what was found. Trees are shared out among threads; of a
/// tree of 2^15 rows or more threads share the log-likelihoods and the statistics, while its messages, a
/// small part unless K is much above the number of features, are one thread's work.
///
/// Memory: 24 K bytes for each row of the trees that are being processed.
class TreePass {
 public:
  TreePass(const Visit& in, const Chain& chain, const SummaryShape& shape, const Piece& piece, Pool* pool);

  /// Trees that together have at most segment_rows rows, or a single larger one.
  void run(const SequenceRows& trees);

  /// The summary of all trees run.
  Summary finish();

 private:
  bool pass(const SequenceRows& s, bool log_space);

  const Visit& in_;
  const Chain& chain_;
  const SummaryShape shape_;
  PieceWork work_;
  std::vector<Vec> pairs_;  // by chunk of the piece: Σ u mᵀ by position, still without the factor P
  Vec log_space_pairs_, start_count_;
  double entropy_ = 0;
  Vec log_e_, m_, u_;  // of the trees being processed
};

}  // namespace bnpvi::chains
