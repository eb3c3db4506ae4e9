// A fit between two laps, as a value that can be written and read.
#pragma once
#include <string>

#include "foundation/monitor.h"
#include "inference/move_memory.h"
#include "inference/state.h"

namespace bnpvi {

/// Everything that the rest of a fit depends on, between two laps: a plain value. A fit that goes on from one
/// that was written and read has the same bits as one that was never interrupted, if data, models, options
/// and kernels are the same.
struct Progress {
  State state;
  MoveMemory moves;
  Index turn = 0;                                         // which kind of move is next
  Index lap = 0;                                          // laps done
  Index step = 0;                                         // stochastic steps done
  std::vector<std::shared_ptr<const UnitMemory>> memory;  // of stochastic visits, by batch; empty otherwise
  NamedArrays learned;  // fields of the models that differ from the given ones
  std::vector<LapRecord> trace;
  bool converged = false;
  std::string reason;    // "elbo", "counts", "max_laps" or "numerical"; empty while the fit goes on
  LapRecord taken_back;  // the lap whose numbers broke down, when that is the reason

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
