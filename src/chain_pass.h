// The local step of a hidden Markov model with all states of a row, segment by segment.
#pragma once
#include "messages.h"
#include "sequence_rows.h"

namespace bnpvi {

/// Forward–backward over sequences with the summary of what was found. Rows are taken in segments of at most
/// `segment_rows`; a sequence of several segments is passed forward once, keeping one message a segment, and
/// then backward, recomputing each segment's potentials and forward messages.
class ChainPass {
 public:
  ChainPass(const LocalInput& in, const Chain& chain, const SummaryShape& shape, const Piece& piece,
            Pool* pool);

  /// Sequences that together have at most segment_rows rows, or a single longer one.
  void run(const SequenceRows& sequences);

  /// The summary of all sequences run.
  Summary finish();

 private:
  bool pass(const SequenceRows& s, bool careful);
  bool pass_forward(const SequenceRows& s, Index from, Index n, bool careful);
  void load(const SequenceRows& s, Index from, Index n, bool careful);
  void add_pairs(Index n);
  void tell_joint(const SequenceRows& s, Index from, Index n);

  const LocalInput& in_;
  const Chain& chain_;
  const SummaryShape shape_;
  PieceWork work_;
  std::vector<Vec> pairs_;  // by part: Σ alpha ν, without the factor P
  Vec careful_pairs_;       // transitions counted by careful passes
  Vec start_count_;
  double entropy_ = 0;
  Vec log_e_, e_, alpha_, scale_, beta_;
};

}  // namespace bnpvi
