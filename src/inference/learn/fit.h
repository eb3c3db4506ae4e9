// The contract of a fit that is learned in laps, passes over all batches (driver.h).
#pragma once
#include <memory>
#include <utility>

#include "foundation/archive.h"
#include "foundation/monitor.h"

namespace bnpvi {

/// Why the laps (passes over all batches) of a phase ended: converged; the largest number of laps; numerical
/// breakdown; stopped by the user.
enum class Why { converged, laps, numbers, stopped };

/// A model of some data while it is learned. Data and models to which it refers can be kept alive by hold().
/// Everything on which further laps (passes over all batches) depend is in this object or in the driver's
/// Course. If both are written and read, the fit continues with the same bits.
class Fit {
 public:
  Fit() = default;
  Fit(const Fit&) = delete;
  Fit& operator=(const Fit&) = delete;
  virtual ~Fit() = default;

  /// Makes lap number n (a pass over all batches), counted from 1; the driver fills in its time. Throws
  /// std::domain_error in a numerical breakdown, and Interrupted; the caller must then go_back().
  virtual LapRecord lap(Index n) = 0;

  /// True if there is a complete state that could be returned. While there is none (before all data were
  /// visited once, or between noisy steps), laps (passes over all batches) go on whatever their largest
  /// number, and the functions below are not called.
  virtual bool whole() const { return true; }

  /// The objective, which laps (passes over all batches) raise.
  virtual double objective() const = 0;
  /// The value by which fits from different starts are compared.
  virtual double score() const { return objective(); }
  /// True if the last lap (pass over all batches) only raised the objective, without trying moves, and no
  /// move is left to try.
  virtual bool still() const = 0;
  /// The number of units of data: observations, rows or tokens by their weights; nodes and links of networks.
  /// The last lap (pass over all batches) is the first one for which still() is true and which raises the
  /// objective by at most `tol` × units().
  virtual double units() const = 0;
  /// How much a lap (pass over all batches) may lower the objective, by rounding or by design, without
  /// counting as a numerical breakdown.
  virtual double slack() const = 0;

  /// Begins another phase of learning, which may have another objective. Returns false if there is no further
  /// phase.
  virtual bool next_phase(Why) { return false; }

  /// Stores the present state, the last one without numerical breakdown, as cheaply as possible; go_back()
  /// returns to it.
  virtual void keep() = 0;
  virtual void go_back() = 0;

  /// Writes the state of the fit, in the form that Maker::read() reads for this kind of fit.
  virtual void write(Writer& out) const = 0;
  /// False if a fit with more laps (passes over all batches) would not have made the last lap, as in
  /// stochastic learning, where the last lap is special. A continued run then goes on from the lap before.
  virtual bool can_go_on() const { return true; }

  void hold(std::shared_ptr<const void> what) { held_ = std::move(what); }

 private:
  std::shared_ptr<const void> held_;
};

}  // namespace bnpvi
