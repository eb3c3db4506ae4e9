// Fits of the same data from several starts, one after the other, of which the best is returned.
#pragma once
#include "inference/learn/driver.h"

namespace bnpvi {

/// Where a fit begins. A plain value.
struct Start {
  std::uint64_t seed = 0;
  Index kind = 0;  // of RestartOptions::kinds, if there are any
  Index k = 0;     // clusters that this kind begins with
};

/// A way to begin: with twice as many clusters as the best start so far has found, but within these bounds.
struct StartKind {
  Index least = 1, most = 1;
};

struct RestartOptions : DriverOptions {
  Index restarts = 1;
  std::uint64_t seed = 0;  // of the first start; the others have restart_seed()

  /// Not empty: starts of these kinds take turns for as long as that pays, whatever `restarts` is: until the
  /// best start and one of another kind (of any, where there is one kind) agree within 1 nat or 1e-5 nats a
  /// unit, until all have done most_work, or until most_starts were made. Every kind is tried while there is
  /// work left; the first start always goes on to its end, so that the answer is never below that of one
  /// start. When every kind has ended, a start is given up that is behind the best one at equal work by more
  /// than it has gained while its work doubled (which is not asked in the beginning); and any but the first
  /// that is not ahead when all have done three times most_work.
  std::vector<StartKind> kinds;
  double most_work = 0;  // Pool::spent()
};

constexpr Index most_starts = 50;  // of small data that never agree: a guess

/// How a start ended. A plain value.
struct StartEnd {
  Start start;
  LapRecord end;  // Course::end
  double score = 0;
  Index given_up = 0;
};

/// How the restarts of a run went.
struct Restarted {
  Learned best;
  Index best_restart = 0;
  std::vector<StartEnd> ends;
  bool interrupted = false;

  /// True when this start, which was not given up, ended within 1 nat or 1e-5 nats a unit of the best.
  bool agrees(const StartEnd& end) const;
};

/// Makes a fit at its start, which may have come some way already; or, of what Fit::write and Course::write
/// have written, one that goes on.
struct Maker {
  std::function<Learned(const Start&)> begin;
  std::function<std::unique_ptr<Fit>(const Start&, Reader& in)> read;
};

/// Where a run is kept that may have to outlive its process. This one keeps nothing.
class Keeper {
 public:
  virtual ~Keeper() = default;
  /// Is a run to be kept after this lap (0: before the first one of a restart)? last: no other follows.
  virtual bool due(Index /*lap*/, bool /*last*/) { return false; }
  virtual void keep(const std::function<void(Writer&)>& /*write*/) {}
};

/// Drives restarts and returns the one with the highest score. from: of a run that was kept; null: a new one.
/// Asked to stop in a restart without a sound lap, it ends with the best of those before.
Restarted drive_restarts(const Maker& maker, const RestartOptions& options, Pool& pool, Keeper& keeper,
                         Reader* from = nullptr);

}  // namespace bnpvi
