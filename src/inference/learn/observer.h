// An interface for code that watches a fit while it runs; used by tests.
#pragma once
#include <functional>

#include "foundation/types.h"

namespace bnpvi {

struct Problem;
struct State;

/// Receives the states that a fit goes through. An observer has no influence on the fit. This base class,
/// which fits use unless they are tested, requests nothing and ignores all calls. All calls come from the
/// thread that runs the fit.
class Observer {
 public:
  virtual ~Observer() = default;

  /// True when states should carry the explicit q(z) of all rows (State::assignments). Models in which what
  /// is remembered of the units (RememberedUnits) determines q(z) do not provide it.
  virtual bool wants_assignments() const { return false; }

  /// True when the fit should also do work that it could skip: compute the ELBO after the visit of every
  /// batch, and make proposals of which it knows already that they will be refused.
  virtual bool wants_spared_work() const { return false; }

  /// Called when a fit begins again from another start, so that the next state does not follow from the last
  /// one.
  virtual void restarted() {}

  /// Called when the ELBO of this state was computed. The state may be a proposal that is refused later.
  virtual void computed(const Problem&, const State&) {}

  /// Called when this state became the state of the fit, after an update of q(z), a move or a pass over the
  /// data.
  virtual void accepted(const State&) {}

  /// Called before a move (a proposed change of the clusters) is accepted. elbo: the ELBO that the move
  /// computed for its new state, having visited only the units that it changes; rounds: how often it visited
  /// these units.
  virtual void predicted(double /*elbo*/, const State&, Index /*rounds*/) {}

  /// Called when a proposal with the objective `after` replaced a state with the objective `before`, in
  /// families of models that do not use State. anew: a function that computes the objective `after` from q of
  /// the latent variables and the data alone; empty if that is impossible.
  virtual void replaced(double /*before*/, double /*after*/, const std::function<double()>& /*anew*/) {}

  /// Called with a forecast of the ELBO of a proposal, made before the proposal itself; the proposal may be
  /// refused.
  virtual void foreseen(double /*elbo*/, const State&) {}
};

/// The observer that ignores everything.
inline Observer nobody;

}  // namespace bnpvi
