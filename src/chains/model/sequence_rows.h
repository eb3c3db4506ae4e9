// Divides the sequences of a batch among threads, and helps with passes over sequences. Rows may be in all
// states or in L only.
#pragma once
#include <cstdint>

#include "foundation/chunks.h"
#include "inference/learn/alloc_model.h"

namespace bnpvi::chains {

/// The rows with a likelihood (modelled rows) of some consecutive sequences or trees. first: marks the row
/// where each sequence or tree begins. back: for trees, the distance of each row to its parent
/// (steps_to_parent()). position: number of the transition matrix that leads into each row
/// (Dataset::position), if there are several.
struct SequenceRows {
  std::vector<Index> rows;
  std::vector<std::uint8_t> first;
  std::vector<int> back, position;

  Index size() const { return static_cast<Index>(rows.size()); }
  void append(const Dataset& data, Index group, Index lag);
  void append(const SequenceRows& more);
  void clear();
};

/// Number of rows of a sequence (group) that have a likelihood: all but the first `lag`, which only serve to
/// predict later rows.
Index modelled_length(const Dataset& data, Index group, Index lag);

/// A piece: consecutive units of a batch (sequences or trees) whose statistics are summed together. It is one
/// of two things: several short sequences, which one thread processes as one chunk (parts = 1); or one long
/// sequence, whose rows are divided into 8 chunks (its `parts`).
///
/// A sequence is long if it has 2^15 rows or more. One with 2^12 rows or more is also long if it has over
/// three quarters of the rows of all sequences below 2^15: threads would otherwise have nothing else to do.
/// The division depends on the lengths only.
struct Piece {
  Index begin = 0, end = 0;  // positions of the sequences in the batch
  Index first_chunk = 0;     // number of its first chunk, as a ResponsibilitySink counts chunks
  Index parts = 1;
};

/// A length of the sum of one piece for which there are few pieces. With many transition matrices, adding up
/// the sums of many pieces would take longer than the rows.
inline constexpr Index many_numbers = Index{1} << 21;

/// Divides all units (sequences or trees) into pieces, in order. numbers: length of the sum of one piece
/// (some consecutive sequences), in doubles (count_chunks()).
std::vector<Piece> cut_into_pieces(const Dataset& data, const std::vector<Index>& units, Index lag,
                                   Index numbers);

/// Maximal number of rows of a segment (part of a sequence that is processed at once) when all K states of
/// its rows are in memory: a guess.
inline constexpr Index segment_rows = 4096;

/// Writes the expected log-likelihoods E log p(x | φ_k) of n rows under K states to out (n × K). They are
/// not_possible for states that the label of a row excludes. owner: class of each state (Summary::owner).
void log_likelihoods(FeatureBlock& block, const Weights& weights, const std::vector<int>& owner,
                     const Index* rows, Index n, double* out);

/// Sets log-likelihoods to not_possible for the states that the label of a row excludes. log_e: n × K, for
/// the first n rows of the block; owner: class of each state.
void exclude_forbidden(const FeatureBlock& block, Index n, const std::vector<int>& owner, double* log_e);

/// Loops over the rows of one piece (some consecutive sequences, see Piece), and sums the statistics of its
/// chunks.
class PieceWork {
 public:
  /// pool: runs the chunks of a long sequence; nullptr if the caller is itself a task of the pool.
  PieceWork(const Visit& in, Index k, const Piece& piece, Pool* pool);

  /// True if for_chunks() and for_parts() run their two kinds of tasks at the same time.
  bool overlaps() const { return pool_ && pool_->n_threads() > 1; }

  /// Calls task(part) for every chunk of the piece, and beside(0) .. beside(n_beside − 1), which are longer
  /// tasks (recursions of messages). If overlaps(), all may run at the same time, and the longer ones start
  /// first. Otherwise the chunks come first and beside(0) last; so beside(i) may use the results of all
  /// chunks and of beside(j), j > i.
  template <class Task, class Beside>
  void for_chunks(Task task, Index n_beside, Beside beside) {
    const auto one = [&](Index i) {
      in_.pool.poll();
      if (i < n_beside) return beside(i);
      task(i - n_beside);
    };
    const Index n_tasks = n_beside + piece_.parts;
    if (overlaps()) return pool_->run(n_tasks, one);
    for (Index i = n_beside; i < n_tasks; ++i) one(i);
    for (Index i = n_beside - 1; i >= 0; --i) one(i);
  }

  /// Divides rows 0 .. n − 1 among the chunks of the piece. Calls use(begin, m) for the rows begin .. begin +
  /// m − 1 of chunk `part`, unless it has no rows.
  template <class Use>
  void rows_of_chunk(Index part, Index n, Use use) const {
    const Index from = chunk_begin(n, piece_.parts, part), to = chunk_end(n, piece_.parts, part);
    if (from < to) use(from, to - from);
  }

  /// Calls task(part, begin, m) for every chunk, which has the rows begin .. begin + m − 1 of n; and
  /// beside(i) for the longer tasks as in for_chunks().
  template <class Task, class Beside>
  void for_parts(Index n, Task task, Index n_beside, Beside beside) {
    for_chunks(
        [&](Index part) { rows_of_chunk(part, n, [&](Index begin, Index m) { task(part, begin, m); }); },
        n_beside, beside);
  }
  template <class Task>
  void for_parts(Index n, Task task) {
    for_parts(n, task, 0, [](Index) {});
  }

  FeatureBlock& block(Index part) { return blocks_[part]; }

  /// Adds n rows of chunk `part` with their responsibilities to the statistics of the states, and passes them
  /// to the sink of the visit. value (n × width): responsibilities of all K states if `state` is null, else
  /// of the states in `state` (n × width).
  void collect(Index part, const Index* rows, Index n, Index width, const double* value, const int* state);

  /// Writes the statistics of the K states, summed over all rows, to t (K × p).
  void finish(double* t);

 private:
  const Visit& in_;
  const Index k_;
  const Piece piece_;
  Pool* pool_;
  std::vector<FeatureBlock> blocks_;
  std::vector<FeatureSum> sums_;
};

/// Computes the summary of all units (sequences or trees) of a batch: `out` plus the summaries of the pieces,
/// in order. make_pass(piece, pool) must return an object with two functions. run(SequenceRows) is called
/// with consecutive sequences of the piece: together at most segment_rows rows, or a single longer sequence.
/// finish() returns their Summary. Sequences of different weights get separate objects, whose summaries are
/// multiplied by the weight. Pieces are tasks of the pool; a long sequence runs alone, on all threads.
template <class MakePass>
Summary sum_pieces(const Visit& in, Summary out, MakePass make_pass) {
  const Index numbers = out.k * (out.shape.p + out.k * out.shape.pairs);
  const std::vector<Piece> pieces = cut_into_pieces(in.data, in.units, in.obs.capabilities().lag,
                                                    out.shape.pairs > 1 ? many_numbers : numbers);
  if (in.sink) in.sink->begin(pieces.empty() ? 0 : pieces.back().first_chunk + pieces.back().parts);
  std::vector<Summary> found(pieces.size());
  const auto run = [&](std::size_t i, Pool* pool) {
    Piece alike = pieces[i];
    for (alike.end = alike.begin; alike.begin < pieces[i].end; alike.begin = alike.end) {
      const double weight = in.data.weight_of_group(in.units[alike.begin]);
      while (alike.end < pieces[i].end && in.data.weight_of_group(in.units[alike.end]) == weight) ++alike.end;
      auto pass = make_pass(alike, pool);
      SequenceRows group, next;
      for (Index u = alike.begin; u < alike.end; ++u) {
        in.pool.poll();
        next.clear();
        next.append(in.data, in.units[u], in.obs.capabilities().lag);
        if (group.size() > 0 && group.size() + next.size() > segment_rows) {
          pass.run(group);
          group.clear();
        }
        group.append(next);
      }
      pass.run(group);
      Summary sum = pass.finish();
      if (weight != 1) sum.scale(weight);
      if (found[i].k == 0)
        found[i] = std::move(sum);
      else
        found[i].add(sum);
    }
  };
  std::vector<std::size_t> shorter;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].parts == 1)
      shorter.push_back(i);
    else
      run(i, &in.pool);
  }
  in.pool.run(static_cast<Index>(shorter.size()), [&](Index task) { run(shorter[task], nullptr); });
  for (const Summary& part : found) out.add(part);
  return out;
}

}  // namespace bnpvi::chains
