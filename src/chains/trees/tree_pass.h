// The local step of hidden Markov trees, which computes the state probabilities of rows given the parameters'
// posterior.
#pragma once
#include "chains/messages/pair_sums.h"
#include "chains/model/sequence_rows.h"
#include "chains/trees/tree_messages.h"

namespace bnpvi::chains {

/// Upward–downward over trees, which adds its results to a summary. Trees are divided among threads. For a
/// tree of 2^15 rows or more, threads share the log-likelihoods and the statistics; its messages, a small
/// part unless K is much above the number of features, are computed by one thread.
///
/// Memory: 24 K bytes for each row of the trees that are being processed.
class TreePass {
 public:
  TreePass(const Visit& in, const Chain& chain, const SummaryShape& shape, const Piece& piece, Pool* pool);

  /// Processes trees that together have at most segment_rows rows, or a single larger tree.
  void run(const SequenceRows& trees);

  /// The summary of all trees passed to run().
  Summary finish();

 private:
  bool pass(const SequenceRows& s, bool log_space);

  const Visit& in_;
  const Chain& chain_;
  const SummaryShape shape_;
  PieceWork work_;
  // for each chunk of rows, and each position: sums of products of messages down and up the trees, which are
  // still to be multiplied by the transition probabilities
  std::vector<PairSums> pairs_;
  Vec log_space_pairs_, start_count_;
  double entropy_ = 0;
  Vec log_e_, m_, u_;  // log potentials and messages of the trees being processed
};

}  // namespace bnpvi::chains
