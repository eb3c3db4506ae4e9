// Who looks on while a fit is made.
#pragma once
#include <functional>

#include "foundation/types.h"

namespace bnpvi {

struct Problem;
struct State;

/// Told of the states that a fit goes through; nothing it does changes a bit of the fit. The base class is
/// the null version, which fits have unless they are tested: it wants nothing and forgets what it is told.
/// Called on the calling thread only.
class Observer {
 public:
  virtual ~Observer() = default;

  /// True when states are to carry their explicit q(z) (State::assignments), unless the memory of the units
  /// says it (RememberedUnits).
  virtual bool wants_assignments() const { return false; }

  /// True when the fit is also to do what it could spare itself: an ELBO after the visit of every batch, and
  /// proposals that are known to be refused.
  virtual bool wants_spared_work() const { return false; }

  /// A fit begins from a start of its own: the next state has nothing to do with the last.
  virtual void restarted() {}

  /// The ELBO of this state, which may be a proposal, was computed.
  virtual void computed(const Problem&, const State&) {}

  /// This state now holds, after a local step, a move or a lap.
  virtual void accepted(const State&) {}

  /// A move is about to be accepted that predicted this ELBO of the state it makes, after so many rounds of
  /// visiting the units that it changes.
  virtual void predicted(double /*elbo*/, const State&, Index /*rounds*/) {}

  /// A proposal with the objective `after` took the place of a state with `before`, in a family whose states
  /// are of a type of its own. anew: computes that objective from q of the latent variables and the data
  /// alone; empty: it cannot be.
  virtual void replaced(double /*before*/, double /*after*/, const std::function<double()>& /*anew*/) {}

  /// A proposal had this ELBO predicted before any of it was made; it may be refused.
  virtual void foreseen(double /*elbo*/, const State&) {}
};

/// The observer that observes nothing.
inline Observer nobody;

}  // namespace bnpvi
