// The interface of a fit that is learned in laps, passes over all batches (driver.h).
#pragma once
#include <memory>
#include <utility>

#include "foundation/archive.h"
#include "foundation/monitor.h"

namespace bnpvi {

/// Why the laps (passes over all batches) of a phase ended: converged; the largest number of laps; numerical
/// breakdown; stopped by the user.
enum class Why { converged, laps, numbers, stopped };

/// A model of some data while it is learned. All that further laps depend on is in this object and in the
/// driver's Course. If both are written and read again, the fit continues with the same bits. hold() keeps
/// the data and models alive to which the fit refers.
class Fit {
 public:
  Fit() = default;
  Fit(const Fit&) = delete;
  Fit& operator=(const Fit&) = delete;
  virtual ~Fit() = default;

  /// Makes lap number n, counted from 1. The driver fills in its time. Throws std::domain_error in a
  /// numerical breakdown, and Interrupted if the user stops. After either the caller must call go_back().
  virtual LapRecord lap(Index n) = 0;

  /// True if there is a complete state that could be returned. It is false before all data were visited once,
  /// and between noisy steps. Then laps go on even after their largest number, and the functions below are
  /// not called.
  virtual bool whole() const { return true; }

  /// The objective, which laps (passes over all batches) raise.
  virtual double objective() const = 0;
  /// The value by which fits from different starts are compared.
  virtual double score() const { return objective(); }
  /// True if the last lap (pass over all batches) only raised the objective, without trying moves, and no
  /// move is left to try.
  virtual bool still() const = 0;
  /// The size of the data: observations, rows or tokens, each counted by its weight; nodes and links of
  /// networks. The fit has converged after a lap for which still() is true and which raises the objective by
  /// at most `tol` × units().
  virtual double units() const = 0;
  /// By how much a lap may lower the objective, through rounding or by design, without counting as a
  /// numerical breakdown.
  virtual double slack() const = 0;

  /// Begins another phase of learning, which may have another objective. Returns false if there is no further
  /// phase.
  virtual bool next_phase(Why) { return false; }

  /// Stores the present state as cheaply as possible. It is called after laps without numerical breakdown;
  /// go_back() returns to the stored state.
  virtual void keep() = 0;
  virtual void go_back() = 0;

  /// Writes the state of the fit, in the form that Maker::read() reads for this kind of fit.
  virtual void write(Writer& out) const = 0;
  /// False if a fit with a larger number of laps would have made another last lap. In stochastic learning the
  /// last lap is special. A continued run then starts from the lap before.
  virtual bool can_go_on() const { return true; }

  void hold(std::shared_ptr<const void> what) { held_ = std::move(what); }

 private:
  std::shared_ptr<const void> held_;
};

}  // namespace bnpvi
