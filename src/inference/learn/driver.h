// What the learning of all fits shares: laps, their clock and trace, when they end, and restarts.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "foundation/pool.h"
#include "inference/learn/fit.h"

namespace bnpvi {

struct DriverOptions {
  Index max_laps = 100;           // of each phase
  double tol = 1e-6;              // see Fit::units
  bool keep_interrupted = false;  // end with the last sound lap when asked to stop
};

/// What the driver knows of a fit between two laps: a plain value.
struct Course {
  std::vector<LapRecord> trace;
  Index before_phase = 0;  // laps done before the present phase began
  bool cut = false;        // max_laps ended an earlier phase, so that the fit has not converged
  bool converged = false;
  std::string reason;    // "elbo", "max_laps", "numerical", "interrupted"; empty while laps go on
  LapRecord taken_back;  // the lap whose numbers broke down, when that is the reason
  double objective = std::numeric_limits<double>::quiet_NaN();  // of the state kept; NaN: there is none

  Index laps() const { return static_cast<Index>(trace.size()); }
  /// A line of a table of restarts: the last lap, without what happened in it.
  LapRecord end() const;

  void write(Writer& out) const;
  static Course read(Reader& in);
};

/// A fit and how far it has come.
struct Learned {
  std::unique_ptr<Fit> fit;
  Course course;
};

/// Laps, phase after phase, until the fit has converged: nothing is left to try, and a lap raised the
/// objective by at most tol for each unit of data. Numbers have broken down when a lap throws
/// std::domain_error, or ends with an objective that is not finite or lower by more than Fit::slack; then,
/// and with keep_interrupted when the user asks to stop, the fit goes back to the last sound lap. Where there
/// is none yet, Interrupted is thrown, and course.objective stays NaN after a breakdown. after_lap: called
/// with the record of each sound lap when the fit can be written; may be empty, as it is for a fit that is
/// learned within a lap of another.
void drive(Fit& fit, Course& course, const DriverOptions& options, Pool& pool,
           const std::function<void(const LapRecord&)>& after_lap = {});

/// Where a run is kept that may have to outlive its process. This one keeps nothing.
class Keeper {
 public:
  virtual ~Keeper() = default;
  /// Is a run to be kept after this lap (0: before the first one of a restart)? last: no other follows.
  virtual bool due(Index /*lap*/, bool /*last*/) { return false; }
  virtual void keep(const std::function<void(Writer&)>& /*write*/) {}
};

/// Several fits, one after the other, which differ in their seeds.
struct RestartOptions : DriverOptions {
  Index restarts = 1;
  std::uint64_t seed = 0;  // of the first; the others have restart_seed()
};

/// How the restarts of a run went.
struct Restarted {
  Learned best;
  Index best_restart = 0;
  std::vector<LapRecord> ends;  // Course::end of each restart
  Vec seeds;                    // of these
  bool interrupted = false;
};

/// Makes a fit with this seed at its start, which may have come some way already; or, of what Fit::write and
/// Course::write have written, one that goes on.
struct Maker {
  std::function<Learned(std::uint64_t seed)> begin;
  std::function<std::unique_ptr<Fit>(std::uint64_t seed, Reader& in)> read;
};

/// Drives restarts and returns the one with the highest score. from: of a run that was kept; null: a new one.
/// Asked to stop in a restart without a sound lap, it ends with the best of those before.
Restarted drive_restarts(const Maker& maker, const RestartOptions& options, Pool& pool, Keeper& keeper,
                         Reader* from = nullptr);

}  // namespace bnpvi
