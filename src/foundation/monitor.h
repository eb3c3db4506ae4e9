// The interface by which a fit reports its progress and asks whether to stop.
#pragma once
#include <limits>
#include <stdexcept>

#include "foundation/types.h"

namespace bnpvi {

/// Exception that is thrown on the calling thread when the user interrupts the fit.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// One line of the trace, written at the end of a lap (one pass over all batches).
struct LapRecord {
  Index lap = 0;
  double elbo = 0;  // NaN if it is not computed in this lap
  /// log p(data, labels), for fits that maximise this over hard labels; NaN in other fits.
  double log_joint = std::numeric_limits<double>::quiet_NaN();
  Index k = 0;
  Index births = 0, merges = 0, deletes = 0;                    // numbers of accepted proposals
  Index births_tried = 0, merges_tried = 0, deletes_tried = 0;  // numbers of proposals made
  double seconds = 0;                                           // seconds since the start of the fit
  double work = 0;  // operations so far (Pool::spent()), including those for the start of the fit
};

/// The callbacks of a running fit. This base class does nothing and never interrupts.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void lap(const LapRecord&) {}
  /// Called often, on the thread that started the fit. If it returns true, the fit throws Interrupted.
  virtual bool interrupted() { return false; }
};

}  // namespace bnpvi
