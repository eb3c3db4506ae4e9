// How the engine speaks to its surroundings: progress out, interruption in.
#pragma once
#include <stdexcept>

#include "foundation/types.h"

namespace bnpvi {

/// Thrown on the calling thread when the user asks to stop.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// One line of the trace, at the end of a lap.
struct LapRecord {
  Index lap = 0;
  double elbo = 0;
  Index k = 0;
  Index births = 0, merges = 0, deletes = 0;                    // accepted
  Index births_tried = 0, merges_tried = 0, deletes_tried = 0;  // tried
  double seconds = 0;                                           // since the start of the fit
};

/// Surroundings of a fit. The base class is the null version: silent and never interrupted.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void lap(const LapRecord&) {}
  /// Called on the calling thread only, often; true asks the engine to stop.
  virtual bool interrupted() { return false; }
};

}  // namespace bnpvi
