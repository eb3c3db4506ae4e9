// Fits of the same data from several starts, one after the other, of which the best is returned.
#pragma once
#include "inference/learn/driver.h"

namespace bnpvi {

/// The start of a fit. A plain value.
struct Start {
  std::uint64_t seed = 0;
  Index kind = 0;  // index in RestartOptions::kinds, if there are any
  Index k = 0;     // initial number of clusters, if there are kinds
};

/// A kind of start: with twice as many clusters as the best start so far has found, but within these bounds.
struct StartKind {
  Index least = 1, most = 1;
};

struct RestartOptions : DriverOptions {
  Index restarts = 1;
  std::uint64_t seed = 0;  // seed of the first start; the others have restart_seed()

  /// If not empty, `restarts` is ignored, and starts of these kinds take turns, until one of the following
  /// holds:
  ///   - the best start and one of another kind (of the same kind, if there is only one) agree within 1 nat
  ///     or 1e-5 nats per unit;
  ///   - all starts together have done most_work;
  ///   - most_starts were made.
  /// Every kind is tried while there is work left. The first start is always completed, so that the answer is
  /// never worse than that of one start. A later start is given up early in two cases: every kind has ended
  /// once, and at equal work the start is behind the best one by more than it gained while its own work
  /// doubled (this is not checked before it has done a quarter of the work of the best start); or all starts
  /// together have done three times most_work, and it is not ahead.
  std::vector<StartKind> kinds;
  double most_work = 0;  // limit for all starts together, in the unit of Pool::spent()
};

constexpr Index most_starts = 50;  // limit for small data whose starts never agree: a guess

/// The end of a start. A plain value.
struct StartEnd {
  Start start;
  LapRecord end;  // line of the table of restarts (Course::end)
  double score = 0;
  Index given_up = 0;
};

/// The result of a run of restarts.
struct Restarted {
  Learned best;
  Index best_restart = 0;
  std::vector<StartEnd> ends;
  bool interrupted = false;

  /// True when this start ran to its end (was not given up) and its score is within 1 nat or 1e-5 nats per
  /// unit of the best.
  bool agrees(const StartEnd& end) const;
};

/// How to make fits. begin() makes a fit at its start, possibly with some laps done; read() makes one that
/// continues from what Fit::write() and Course::write() have written.
struct Maker {
  std::function<Learned(const Start&)> begin;
  std::function<std::unique_ptr<Fit>(const Start&, Reader& in)> read;
};

/// Stores runs that may have to outlive their process. This base class stores nothing.
class Keeper {
 public:
  virtual ~Keeper() = default;
  /// True when the run should be stored after this lap (0: before the first lap of a restart). last: no other
  /// lap follows.
  virtual bool due(Index /*lap*/, bool /*last*/) { return false; }
  virtual void keep(const std::function<void(Writer&)>& /*write*/) {}
};

/// Makes the restarts (fits from different starts) and returns the one with the highest score. from: a stored
/// run to continue; null: a new run. If the user stops the run in a restart that has no lap without numerical
/// breakdown yet, the best of the earlier restarts is returned.
Restarted drive_restarts(const Maker& maker, const RestartOptions& options, Pool& pool, Keeper& keeper,
                         Reader* from = nullptr);

}  // namespace bnpvi
