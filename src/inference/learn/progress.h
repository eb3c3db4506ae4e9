// Progress: a fit between two laps (passes over all batches), as a value that can be written and read.
#pragma once
#include "inference/learn/long_steps.h"
#include "inference/moves/move_memory.h"

namespace bnpvi {

/// All that determines how a fit continues after a lap, except the driver's record of the laps (Course). A
/// plain value. A fit that continues from a stored Progress has the same bits as one that was never
/// interrupted, provided that data, models, options and numerical kernels are the same.
struct Progress {
  State state;
  MoveMemory moves;
  Index turn = 0;                                         // index of the kind of move that is next
  LongSteps long_steps;
  Index step = 0;                                         // number of stochastic steps so far
  std::vector<std::shared_ptr<const UnitMemory>> memory;  // of the last stochastic visit, by batch; or empty
  NamedArrays learned;                                    // learned fields of the models

  /// The progress of a fit that is in this state and has made no lap yet. p: the number of operations for one
  /// observation (MoveMemory).
  Progress(State state, Index p);

  /// Writes everything but the explicit responsibilities of all rows, which only observers use.
  void write(Writer& out) const;

  /// Reads what write() wrote. Throws std::invalid_argument when the bytes are not the progress of a fit, or
  /// were written by a program that uses other numerical kernels.
  static Progress read(Reader& in);

 private:
  Progress() = default;
};

/// Computes what Progress::write() leaves out, as it follows from the rest: the weights by which the next
/// visit multiplies features.
void complete(const Problem& problem, Progress& progress);

}  // namespace bnpvi
