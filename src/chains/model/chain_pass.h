// The local step (update of q(z)) of a hidden Markov model in which rows may be in all states. It works
// segment by segment.
#pragma once
#include "chains/messages/pair_sums.h"
#include "chains/model/sequence_rows.h"

namespace bnpvi::chains {

/// Forward–backward over sequences; the results are added to a summary. Rows are processed in segments
/// (ranges of rows) of at most `segment_rows`. A sequence of several segments is passed forward, then
/// backward. In between, the potentials and forward messages of as many of the last segments as possible stay
/// in memory. Of every other segment one message is kept, from which the others are recomputed.
///
/// If several threads share a long sequence, four segments are processed at a time, since the recursion of
/// messages needs one thread. The four tasks do not depend on each other: the statistics of one segment; the
/// backward messages of the next; and, for segments that were not kept, the forward messages and the
/// potentials of the two after it. The bits of the results are the same as with one segment at a time.
/// Segments of a long sequence have about 2^14 / K rows, from 512 to 2048, for any number of threads.
///
/// Memory: 24 K + 8 bytes for each row of the segments in memory. If threads share a sequence, these rows
/// have at most 2^18 states in all (6 MB); if each thread has its own sequence, 2^17. There is always at
/// least one segment of `segment_rows` rows (96 K kB), or four of a long sequence (50 K kB for 32 states or
/// more).
class ChainPass {
 public:
  ChainPass(const Visit& in, const Chain& chain, const SummaryShape& shape, const Piece& piece, Pool* pool);

  /// Processes sequences that together have at most segment_rows rows, or a single longer one.
  void run(const SequenceRows& sequences);

  /// The summary of all sequences passed to run().
  Summary finish();

 private:
  struct Segment {
    Index number = 0, from = 0, n = 0;
    Buffer log_e, e, alpha, scale;  // log potentials, potentials (rows × K), forward messages, scales
  };

  /// The segments (ranges of rows) on which the four stages of a pass work at the same time. One is loaded,
  /// one passed forward, one passed backward, and one added to the summary. nullptr: the stage has no work.
  struct Stages {
    Segment *load, *forward, *backward, *collect;
  };

  static ChainRows rows_of(const SequenceRows& s, const Segment& x);
  bool pass(const SequenceRows& s, bool log_space);
  /// Runs the four stages of a pass once, each on its segment. Returns false if the forward messages may
  /// depend on a floor of potentials (messages.h).
  bool step(const SequenceRows& s, const Stages& x, bool log_space);
  void make_room(Index in_memory, Index longest);
  void load(const SequenceRows& s, Segment& x, Index part, Index begin, Index m, bool log_space);
  bool pass_forward(const SequenceRows& s, Segment& x, bool log_space);
  void pass_backward(const SequenceRows& s, Segment& x, bool log_space);
  void collect(const SequenceRows& s, const Segment& x, Index part, Index begin, Index m, bool log_space);
  void tell_joint(const SequenceRows& s, const Segment& x);

  const Visit& in_;
  const Chain& chain_;
  const SummaryShape shape_;
  PieceWork work_;
  // for each chunk of rows, and each position: sums of products of forward and backward messages, which are
  // still to be multiplied by the transition probabilities
  std::vector<PairSums> pairs_;
  Vec log_space_pairs_;  // expected transitions that were computed in log space
  Vec start_count_;
  double entropy_ = 0;
  const Index most_rows_;  // largest number of rows of a segment
  const Index most_kept_;  // largest number of segments in memory
  // how many segments (ranges of rows) each stage is ahead of the next: 1 when stages run at the same time,
  // else 0
  const Index ahead_;
  // the segments (ranges of rows) in memory: segment i of a sequence is at i modulo their number
  std::vector<Segment> segments_;
  Vec before_;  // for each segment, the forward message that enters it (K numbers)
  Vec beta_;
};

}  // namespace bnpvi::chains
