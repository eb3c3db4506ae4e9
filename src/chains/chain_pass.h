// The local step of a hidden Markov model with all states of a row, segment by segment.
#pragma once
#include "chains/messages.h"
#include "chains/sequence_rows.h"

namespace bnpvi::chains {

/// Forward–backward over sequences with the summary of what was found. Rows are taken in segments of at most
/// `segment_rows`; a sequence of several segments is passed forward once, keeping one message a segment, and
/// then backward, recomputing each segment's potentials and forward messages.
///
/// Where the rows of a sequence are shared out among threads, messages are still one recursion after the
/// other, so three segments are in work at a time: backward messages of one, forward messages of the next and
/// potentials of the one after it need nothing of each other. Their numbers are those of one segment at a
/// time. Segments of such a sequence are shorter where there are many states, about 2^16 / K rows and at
/// least 512, for any number of threads.
///
/// Memory: 24 K + 8 bytes a row of the segments in work. One segment: 96 K kB; three: 5 MB up to 128 states,
/// 36 K kB beyond.
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

  bool pass(const SequenceRows& s, bool careful);
  /// Each its own segment, or none (nullptr). False when a floor may have mattered to the forward messages.
  bool step(const SequenceRows& s, Segment* to_load, Segment* to_forward, Segment* to_backward, bool careful);
  void load(const SequenceRows& s, Segment& x, Index part, Index begin, Index m, bool careful);
  bool pass_forward(const SequenceRows& s, Segment& x, bool careful);
  void pass_backward(const SequenceRows& s, Segment& x, bool careful);
  void collect(const SequenceRows& s, const Segment& x, bool careful);
  void tell_joint(const SequenceRows& s, const Segment& x);

  const Visit& in_;
  const Chain& chain_;
  const SummaryShape shape_;
  PieceWork work_;
  std::vector<Vec> pairs_;  // by part: Σ alpha ν, without the factor P
  Vec careful_pairs_;       // transitions counted by careful passes
  Vec start_count_;
  double entropy_ = 0;
  const Index most_rows_;  // of a segment
  const Index ahead_;      // segments between load, forward and backward: 1, or 0 when nothing overlaps
  std::vector<Segment> segments_;  // in work: segment i of a sequence is i modulo their number
  Vec before_;                     // messages before each segment
  Vec beta_;
};

}  // namespace bnpvi::chains
