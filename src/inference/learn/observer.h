// An interface for code that watches a fit while it runs; used by tests.
#pragma once
#include <functional>

#include "foundation/types.h"

namespace bnpvi {

struct Problem;
struct State;

/// Receives the states that a fit goes through, without influence on it. This base class ignores all calls;
/// fits use it unless they are tested. All calls come from the thread that runs the fit.
class Observer {
 public:
  virtual ~Observer() = default;

  /// True if states should carry the explicit q(z) of all rows (State::assignments). Models with the
  /// capability RememberedUnits do not provide it.
  virtual bool wants_assignments() const { return false; }

  /// True if the fit should also do work that it could skip: compute the ELBO after each visit of a batch,
  /// and make proposals that are known to fail.
  virtual bool wants_spared_work() const { return false; }

  /// Called when a fit begins again from another start, so that the next state does not follow from the last
  /// one.
  virtual void restarted() {}

  /// Called when the ELBO of this state was computed. The state may be a proposal that is refused later.
  virtual void computed(const Problem&, const State&) {}

  /// Called when this state became the state of the fit, after an update of q(z), a move or a pass over the
  /// data.
  virtual void accepted(const State&) {}

  /// Called before a move is accepted. elbo: the ELBO that the move computed for its new state from visits of
  /// the units that it changes. rounds: how often it visited these units.
  virtual void predicted(double /*elbo*/, const State&, Index /*rounds*/) {}

  /// Called when a proposal with objective `after` replaced a state with objective `before`, in families that
  /// do not use State. anew: computes `after` from q of the latent variables and the data alone; empty if
  /// that is impossible.
  virtual void replaced(double /*before*/, double /*after*/, const std::function<double()>& /*anew*/) {}

  /// Called with a forecast of the ELBO of a proposal before the proposal is made. The proposal may be
  /// refused.
  virtual void foreseen(double /*elbo*/, const State&) {}
};

/// The observer that ignores everything.
inline Observer nobody;

}  // namespace bnpvi
