// What the learning of all fits shares: laps, their clock and trace, and when they end.
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
  std::string reason;    // "elbo", "max_laps", "numerical", "interrupted"; empty while laps go on. Of several
                         // starts (restarts.h) "given_up", and "waits", after which laps may go on
  LapRecord taken_back;  // the lap whose numbers broke down, when that is the reason
  double objective = std::numeric_limits<double>::quiet_NaN();  // of the state kept; NaN: there is none
  double work = 0;  // Pool::spent() so far, of making the start included

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
/// learned within a lap of another. It may set the fit aside, by a reason in the course.
void drive(Fit& fit, Course& course, const DriverOptions& options, Pool& pool,
           const std::function<void(const LapRecord&)>& after_lap = {});

}  // namespace bnpvi
