// The part of learning that all fits share: laps (passes over all batches), their timing and trace, and when
// they end.
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
  Index max_laps = 100;           // largest number of laps (passes over all batches) per phase
  double tol = 1e-6;              // converged once a lap gains at most tol for each unit of data
  bool keep_interrupted = false;  // if the user stops the fit, return its last sound state
};

/// The progress of a fit as the driver sees it between two laps (passes over all batches). A plain value.
struct Course {
  std::vector<LapRecord> trace;
  Index before_phase = 0;  // number of laps before the present phase began
  bool cut = false;        // max_laps ended an earlier phase, so that the fit has not converged
  bool converged = false;
  /// Why laps ended: "elbo", "max_laps", "numerical" or "interrupted"; empty while laps go on. A fit with
  /// several starts (restarts.h) may also have "given_up", or "waits" if its laps may go on later.
  std::string reason;
  LapRecord taken_back;  // the lap in which a numerical breakdown occurred, if laps ended for that reason
  /// The objective at the end of the last lap without numerical breakdown, whose state is kept. NaN if there
  /// is none.
  double objective = std::numeric_limits<double>::quiet_NaN();
  double work = 0;  // operations so far (Pool::spent()), including those of making the start

  Index laps() const { return static_cast<Index>(trace.size()); }
  /// The line of this fit in the table of restarts: number of laps, objective, number of clusters and work at
  /// its end.
  LapRecord end() const;

  void write(Writer& out) const;
  static Course read(Reader& in);
};

/// A fit and its progress.
struct Learned {
  std::unique_ptr<Fit> fit;
  Course course;
};

/// Runs laps (passes over all batches), phase after phase, until the fit has converged: no move is left to
/// try, and a lap raised the objective by at most tol for each unit of data.
///
/// A lap breaks down numerically if it throws std::domain_error, or if the objective at its end is not finite
/// or has fallen by more than Fit::slack. The fit then returns to its last sound state: that after the last
/// lap without breakdown. With keep_interrupted it also returns there when the user stops it. Without a sound
/// state, course.objective stays NaN after a breakdown, and Interrupted is thrown when the user stops.
///
/// after_lap: called with the record of each sound lap, when the fit can be written. It may pause or abandon
/// the fit by setting course.reason. Empty for a fit that is learned within a lap of another fit.
void drive(Fit& fit, Course& course, const DriverOptions& options, Pool& pool,
           const std::function<void(const LapRecord&)>& after_lap = {});

}  // namespace bnpvi
