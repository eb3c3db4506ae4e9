// The local step of a hidden Markov model, segment by segment.
#pragma once
#include "alloc_model.h"
#include "messages.h"

namespace bnpvi {

/// Modelled rows of some consecutive sequences: `first` marks where each begins.
struct SequenceRows {
  std::vector<Index> rows;
  std::vector<std::uint8_t> first;

  Index size() const { return static_cast<Index>(rows.size()); }
  void append(const Dataset& data, Index group, Index lag);
  void clear();
};

/// Units of a batch that are summed up together: short sequences, worked through by one thread, or one
/// long sequence whose rows are shared out among threads in `parts`. A function of the lengths only.
struct Piece {
  Index begin = 0, end = 0;  // positions in the batch
  Index first_chunk = 0;     // number of its first part for a ResponsibilitySink
  Index parts = 1;
};

std::vector<Piece> cut_into_pieces(const Dataset& data, const std::vector<Index>& units, Index lag);

/// Log-likelihoods E log p(x | φ_k) of n rows, n × K.
void log_likelihoods(FeatureBlock& block, const Weights& weights, const Index* rows, Index n, double* out);

/// Forward–backward over sequences with the summary of what was found. Rows are taken in segments of at most
/// `segment_rows`; a sequence of several segments is passed forward once, keeping one message a segment, and
/// then backward, recomputing each segment's potentials and forward messages.
class ChainPass {
 public:
  static constexpr Index segment_rows = 4096;

  /// pool: shares out row-wise work in `parts`; nullptr when the caller is itself one of several tasks.
  ChainPass(const LocalInput& in, const Chain& chain, const Piece& piece, Pool* pool);

  /// Sequences that together have at most segment_rows rows, or a single longer one.
  void run(const SequenceRows& sequences);

  /// The summary of all sequences run.
  Summary finish(const SummaryShape& shape);

 private:
  bool pass(const SequenceRows& s, bool careful);
  bool pass_forward(const SequenceRows& s, Index from, Index n, bool careful);
  void load(const SequenceRows& s, Index from, Index n, bool careful);
  void add_pairs(Index n);
  void tell_joint(const SequenceRows& s, Index from, Index n);
  void collect(const SequenceRows& s, Index from, Index n);
  template <class Task>
  void for_parts(Index n, Task task);

  const LocalInput& in_;
  const Chain& chain_;
  const Piece piece_;
  Pool* pool_;
  std::vector<FeatureBlock> blocks_;  // by part, as are the sums
  std::vector<FeatureSum> sums_;
  std::vector<Vec> pairs_;  // Σ alpha ν, without the factor P
  Vec careful_pairs_;       // transitions counted by careful passes
  Vec start_count_;
  double entropy_ = 0;
  Vec log_e_, e_, alpha_, scale_, beta_;
};

}  // namespace bnpvi
