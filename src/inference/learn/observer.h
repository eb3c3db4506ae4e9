// Observers of a running fit.
#pragma once
#include <functional>

#include "foundation/types.h"

namespace bnpvi {

struct Problem;
struct State;

/// Receives the states that a fit goes through; nothing it does changes a bit of the fit. This base class,
/// which fits use unless they are tested, requests nothing and ignores all calls. Called on the calling
/// thread only.
class Observer {
 public:
  virtual ~Observer() = default;

  /// True when states should carry the explicit q(z) of all rows (State::assignments). Models in which the
  /// memory of the units determines q(z) leave it out (RememberedUnits).
  virtual bool wants_assignments() const { return false; }

  /// True when the fit should also do work that it could skip: compute the ELBO after the visit of every
  /// batch, and make proposals that are known to be refused.
  virtual bool wants_spared_work() const { return false; }

  /// Called when a fit begins from another start: the next state is unrelated to the last.
  virtual void restarted() {}

  /// Called when the ELBO of this state, which may be a proposal, was computed.
  virtual void computed(const Problem&, const State&) {}

  /// Called when this state became the present one, after a local step, a move or a lap.
  virtual void accepted(const State&) {}

  /// Called before a move is accepted. elbo: the ELBO that the move computed for its new state, without
  /// visiting other units than those that it changes; rounds: how many times it visited those units.
  virtual void predicted(double /*elbo*/, const State&, Index /*rounds*/) {}

  /// Called, in families of models with a state type of their own, when a proposal with the objective `after`
  /// replaced a state with the objective `before`. anew: computes the objective `after` from q of the latent
  /// variables and the data alone; empty if that is impossible.
  virtual void replaced(double /*before*/, double /*after*/, const std::function<double()>& /*anew*/) {}

  /// Called with the ELBO that was predicted for a proposal before any of it was made; the proposal may be
  /// refused.
  virtual void foreseen(double /*elbo*/, const State&) {}
};

/// The observer that ignores everything.
inline Observer nobody;

}  // namespace bnpvi
