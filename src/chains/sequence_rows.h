// How the sequences of a batch are divided among threads, and what passes over them share.
#pragma once
#include <cstdint>

#include "foundation/chunks.h"
#include "inference/alloc_model.h"

namespace bnpvi::chains {

/// Modelled rows of some consecutive sequences: `first` marks where each begins.
struct SequenceRows {
  std::vector<Index> rows;
  std::vector<std::uint8_t> first;

  Index size() const { return static_cast<Index>(rows.size()); }
  void append(const Dataset& data, Index group, Index lag);
  void clear();
};

/// Rows of a sequence that are modelled.
Index modelled_length(const Dataset& data, Index group, Index lag);

/// Units of a batch that are summed up together: short sequences, worked through by one thread, or one
/// long sequence whose rows are shared out among threads in `parts`. A function of the lengths only.
struct Piece {
  Index begin = 0, end = 0;  // positions in the batch
  Index first_chunk = 0;     // number of its first part for a ResponsibilitySink
  Index parts = 1;
};

/// numbers: how many a piece's sum has.
std::vector<Piece> cut_into_pieces(const Dataset& data, const std::vector<Index>& units, Index lag,
                                   Index numbers);

/// Rows taken at a time where all K states of a row are in memory.
inline constexpr Index segment_rows = 4096;

/// Log-likelihoods E log p(x | φ_k) of n rows, n × K.
void log_likelihoods(FeatureBlock& block, const Weights& weights, const Index* rows, Index n, double* out);

/// The row-wise work of one piece, by part.
class PieceWork {
 public:
  /// pool: shares out the parts; nullptr when the caller is itself one of several tasks.
  PieceWork(const Visit& in, Index k, const Piece& piece, Pool* pool);

  /// Whether tasks beside the parts run at the same time as these.
  bool overlaps() const { return pool_ && pool_->n_threads() > 1; }

  /// task(part, begin, m) for the rows begin .. begin + m − 1 < n of each part, and beside(0) ..
  /// beside(n_beside − 1), long tasks. Tasks that overlap may come in any order, and the long ones begin
  /// first. If none do, the parts come first, beside(0) is last, and each may need what went before.
  template <class Task, class Beside>
  void for_parts(Index n, Task task, Index n_beside, Beside beside) {
    const auto one = [&](Index i) {
      in_.pool.poll();
      if (i < n_beside) return beside(i);
      const Index part = i - n_beside;
      const Index from = chunk_begin(n, piece_.parts, part), to = chunk_end(n, piece_.parts, part);
      if (from < to) task(part, from, to - from);
    };
    const Index n_tasks = n_beside + piece_.parts;
    if (overlaps()) return pool_->run(n_tasks, one);
    for (Index i = n_beside; i < n_tasks; ++i) one(i);
    for (Index i = n_beside - 1; i >= 0; --i) one(i);
  }
  template <class Task>
  void for_parts(Index n, Task task) {
    for_parts(n, task, 0, [](Index) {});
  }

  FeatureBlock& block(Index part) { return blocks_[part]; }

  /// Adds n rows of a part with their responsibilities (n × width; of all K states, or of the states given)
  /// to the statistic, and shows them to the sink.
  void collect(Index part, const Index* rows, Index n, Index width, const double* value, const int* state);

  /// Makes t (K × p) the statistic of all rows.
  void finish(double* t);

 private:
  const Visit& in_;
  const Index k_;
  const Piece piece_;
  Pool* pool_;
  std::vector<FeatureBlock> blocks_;
  std::vector<FeatureSum> sums_;
};

/// Summary of all units of a batch: pieces side by side on the threads, added up in order. make_pass(piece,
/// pool) makes an object with run(SequenceRows), called with the piece's sequences in order, which together
/// have at most segment_rows rows or are a single longer one, and finish(), which returns a Summary.
template <class MakePass>
Summary sum_pieces(const Visit& in, Summary out, MakePass make_pass) {
  const std::vector<Piece> pieces =
      cut_into_pieces(in.data, in.units, in.obs.lag(), out.k * (out.shape.p + out.k));
  if (in.sink) in.sink->begin(pieces.empty() ? 0 : pieces.back().first_chunk + pieces.back().parts);
  std::vector<Summary> found(pieces.size());
  const auto run = [&](std::size_t i, Pool* pool) {
    auto pass = make_pass(pieces[i], pool);
    SequenceRows group, next;
    for (Index u = pieces[i].begin; u < pieces[i].end; ++u) {
      in.pool.poll();
      next.clear();
      next.append(in.data, in.units[u], in.obs.lag());
      if (group.size() > 0 && group.size() + next.size() > segment_rows) {
        pass.run(group);
        group.clear();
      }
      group.rows.insert(group.rows.end(), next.rows.begin(), next.rows.end());
      group.first.insert(group.first.end(), next.first.begin(), next.first.end());
    }
    pass.run(group);
    found[i] = pass.finish();
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
