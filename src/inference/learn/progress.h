// A fit between two laps (passes over all batches), as a value that can be written and read.
#pragma once
#include "inference/learn/state.h"
#include "inference/moves/move_memory.h"

namespace bnpvi {

/// Everything on which the rest of a fit depends between two laps, besides the driver's Course: a plain
/// value. A fit continued from a Progress that was written and read has the same bits as one that was never
/// interrupted, if data, models, options and kernels are the same.
struct Progress {
  State state;
  MoveMemory moves;
  Index turn = 0;                                         // index of the kind of move that is next
  Index step = 0;                                         // number of stochastic steps so far
  std::vector<std::shared_ptr<const UnitMemory>> memory;  // of the last stochastic visit, by batch; or empty
  NamedArrays learned;                                    // learned fields of the models

  /// A fit that has not begun, at the given state. p: number of operations that one observation costs
  /// (MoveMemory).
  Progress(State state, Index p);

  /// Writes everything but the explicit responsibilities of all rows, which only observers use.
  void write(Writer& out) const;

  /// Throws std::invalid_argument when the bytes are not the progress of a fit, or were written with other
  /// kernels.
  static Progress read(Reader& in);

 private:
  Progress() = default;
};

/// Computes what write() omits because it follows from the rest: the weights for the next visit.
void complete(const Problem& problem, Progress& progress);

}  // namespace bnpvi
