// The contract of a fit that is learned lap by lap (driver.h).
#pragma once
#include <memory>
#include <utility>

#include "foundation/archive.h"
#include "foundation/monitor.h"

namespace bnpvi {

/// Why the laps of a phase ended.
enum class Why { converged, laps, numbers, stopped };

/// A model of some data while it is learned. What it refers to (data, models) it also holds(). Everything
/// that further laps depend on is in it or in the driver's Course, so that both, written and read, go on to
/// the same bits.
class Fit {
 public:
  Fit() = default;
  Fit(const Fit&) = delete;
  Fit& operator=(const Fit&) = delete;
  virtual ~Fit() = default;

  /// Lap number n, from 1; the driver fills in its seconds. Throws std::domain_error where numbers break
  /// down, and Interrupted; the state is then one to go back from.
  virtual LapRecord lap(Index n) = 0;

  /// True when there is a state to end with. While there is none (before all data were visited once, between
  /// noisy steps) laps go on whatever their greatest number, and nothing below is asked.
  virtual bool whole() const { return true; }

  /// What laps raise.
  virtual double objective() const = 0;
  /// What restarts are compared by.
  virtual double score() const { return objective(); }
  /// True when the last lap tried nothing but to raise the objective, and nothing else is left to try.
  virtual bool still() const = 0;
  /// Units of data: observations, rows or tokens by their weights; nodes and links. A still lap that raises
  /// the objective by at most `tol` for each of them is the last one.
  virtual double units() const = 0;
  /// By how much a sound lap may lower the objective, by rounding or by design.
  virtual double slack() const = 0;

  /// Another phase of learning begins, which may have another objective; false: the last one has ended.
  virtual bool next_phase(Why) { return false; }

  /// Remembers the present state, the last sound one, as cheaply as can be; and returns to it.
  virtual void keep() = 0;
  virtual void go_back() = 0;

  /// What a maker of this kind of fit reads.
  virtual void write(Writer& out) const = 0;
  /// False after a last lap that a fit with more laps would not have had (of stochastic learning): a run goes
  /// on from the lap before.
  virtual bool can_go_on() const { return true; }

  void hold(std::shared_ptr<const void> what) { held_ = std::move(what); }

 private:
  std::shared_ptr<const void> held_;
};

}  // namespace bnpvi
