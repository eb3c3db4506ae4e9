// The local step of hidden Markov trees, which computes the state probabilities of rows given the parameters'
// posterior.
#pragma once
#include "chains/messages/pair_sums.h"
#include "chains/model/sequence_rows.h"
#include "chains/trees/tree_messages.h"

namespace bnpvi::chains {

/// The local step (update of q(z)) over the trees of a data set: computes upward–downward messages and adds
/// the results to a summary (sums over rows). Threads share the trees. In a tree of 2^15 rows or more, they
/// share the log-likelihoods and the statistics of the rows. One thread computes the messages of such a tree;
/// they take a small part of the time unless K is much larger than the number of features.
///
/// Memory: 24 K bytes for each row of the trees that are being processed.
class TreePass {
 public:
  TreePass(const Visit& in, const Chain& chain, const SummaryShape& shape, const Piece& piece, Pool* pool);

  /// Processes one group of trees: trees with at most segment_rows rows together, or one larger tree.
  void run(const SequenceRows& trees);

  /// The summary of all trees passed to run().
  Summary finish();

 private:
  bool pass(const SequenceRows& s, bool log_space);

  const Visit& in_;
  const Chain& chain_;
  const SummaryShape shape_;
  PieceWork work_;
  // for each chunk of rows, by position: sums of products of downward and upward messages; multiplied by
  // transition probabilities, these will give the expected transitions
  std::vector<PairSums> pairs_;
  Vec log_space_pairs_, start_count_;
  double entropy_ = 0;
  Vec log_e_, m_, u_;  // log potentials and messages of the trees being processed
};

}  // namespace bnpvi::chains
