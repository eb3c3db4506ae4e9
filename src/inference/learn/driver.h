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
  /// Why laps (passes over all batches) ended: "elbo", "max_laps", "numerical" or "interrupted"; empty while
  /// laps go on. In fits with several starts (restarts.h) also "given_up", or "waits", after which laps may
  /// go on.
  std::string reason;
  LapRecord taken_back;  // the lap in which a numerical breakdown occurred, if laps ended for that reason
  /// Objective at the end of the last lap (pass over all batches) without numerical breakdown, whose state is
  /// kept; NaN: there was none yet.
  double objective = std::numeric_limits<double>::quiet_NaN();
  double work = 0;  // operations so far (Pool::spent()), including those of making the start

  Index laps() const { return static_cast<Index>(trace.size()); }
  /// A line of the table of restarts: number of laps (passes over the data), objective, number of clusters
  /// and work at the end of this fit.
  LapRecord end() const;

  void write(Writer& out) const;
  static Course read(Reader& in);
};

/// A fit and its progress.
struct Learned {
  std::unique_ptr<Fit> fit;
  Course course;
};

/// Runs laps (passes over all batches), phase after phase, until the fit has converged: there is no move left
/// to try, and a lap raised the objective by at most tol for each unit of data.
///
/// A numerical breakdown is a lap that throws std::domain_error, or ends with an objective that is not finite
/// or has fallen by more than Fit::slack. The fit then returns to the last sound lap, that is, the last one
/// without breakdown. With keep_interrupted it also returns there when the user stops it. If there is no
/// sound lap yet, Interrupted is thrown, or after a breakdown course.objective stays NaN.
///
/// after_lap: called with the record of each sound lap, at a time when the fit can be written. May be empty,
/// as it is for a fit that is learned within a lap of another fit. It may pause or abandon the fit by setting
/// course.reason.
void drive(Fit& fit, Course& course, const DriverOptions& options, Pool& pool,
           const std::function<void(const LapRecord&)>& after_lap = {});

}  // namespace bnpvi
