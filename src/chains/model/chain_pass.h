// The local step of a hidden Markov model with all states of a row, segment by segment.
#pragma once
#include "chains/messages/messages.h"
#include "chains/model/sequence_rows.h"

namespace bnpvi::chains {

/// Forward–backward over sequences with the summary of what was found. Rows are taken in segments of at most
/// `segment_rows`; a sequence of several segments is passed forward once, keeping one message a segment, and
/// then backward, recomputing each segment's potentials and forward messages.
///
/// When several threads share a long sequence, three segments are processed at a time, since messages are a
/// recursion that only one thread can compute: backward messages of one segment, forward messages of the next
/// and potentials of the one after it do not depend on each other. The bits are those of one segment at a
/// time. Segments of a long sequence have about 2^16 / K rows, from 512 to `segment_rows`, for any number of
/// threads.
///
/// Memory: 24 K + 8 bytes for each row of the segments being processed: 96 K kB for one segment; for three 5
/// MB up to 128 states, 36 K kB beyond.
class ChainPass {
 public:
  ChainPass(const Visit& in, const Chain& chain, const SummaryShape& shape, const Piece& piece, Pool* pool);

  /// Sequences that together have at most segment_rows rows, or a single longer one.
  void run(const SequenceRows& sequences);

  /// The summary of all sequences run.
  Summary finish();

 private:
  struct Segment {
    Index number = 0, from = 0, n = 0;
    Vec log_e, e, alpha, scale;  // see messages.h
  };

  bool pass(const SequenceRows& s, bool log_space);
  /// Loads one segment, passes forward over another and backward over a third (each may be nullptr). False
  /// when the forward messages may depend on a floor (messages.h).
  bool step(const SequenceRows& s, Segment* to_load, Segment* to_forward, Segment* to_backward,
            bool log_space);
  void load(const SequenceRows& s, Segment& x, Index part, Index begin, Index m, bool log_space);
  bool pass_forward(const SequenceRows& s, Segment& x, bool log_space);
  void pass_backward(const SequenceRows& s, Segment& x, bool log_space);
  void collect(const SequenceRows& s, const Segment& x, bool log_space);
  void tell_joint(const SequenceRows& s, const Segment& x);

  const Visit& in_;
  const Chain& chain_;
  const SummaryShape shape_;
  PieceWork work_;
  std::vector<Vec> pairs_;  // by chunk of the piece: Σ α νᵀ, still without the factor P
  Vec log_space_pairs_;     // expected transitions counted in log space
  Vec start_count_;
  double entropy_ = 0;
  const Index most_rows_;  // of a segment
  const Index ahead_;      // 1 when loading, forward and backward messages overlap, one segment apart; else 0
  std::vector<Segment> segments_;  // being processed: segment i of a sequence is i modulo their number
  Vec before_;                     // K for each segment: the forward message that enters it
  Vec beta_;
};

}  // namespace bnpvi::chains
