// A fit between two laps, as a value that can be written and read.
#pragma once
#include "inference/learn/state.h"
#include "inference/moves/move_memory.h"

namespace bnpvi {

/// What the rest of a fit depends on, between two laps, beside the driver's Course: a plain value. A fit that
/// goes on from one that was written and read has the same bits as one that was never interrupted, if data,
/// models, options and kernels are the same.
struct Progress {
  State state;
  MoveMemory moves;
  Index turn = 0;                                         // which kind of move is next
  Index step = 0;                                         // stochastic steps done
  std::vector<std::shared_ptr<const UnitMemory>> memory;  // of stochastic visits, by batch; empty otherwise
  NamedArrays learned;  // fields of the models that differ from the given ones

  /// A fit that has not begun, at the given state; p: operations that one observation costs (MoveMemory).
  Progress(State state, Index p);

  /// Explicit responsibilities, which only an observer wants, are not written.
  void write(Writer& out) const;

  /// Throws std::invalid_argument when the bytes are no progress of a fit, or were written with other
  /// kernels.
  static Progress read(Reader& in);

 private:
  Progress() = default;
};

/// Recomputes what write() leaves out because it follows from the rest: the weights for the next visit.
void complete(const Problem& problem, Progress& progress);

}  // namespace bnpvi
