// Coordinate ascent for switching linear dynamical systems.
#pragma once
#include <optional>

#include "dynamics/lds_state.h"
#include "inference/learn/learn.h"

namespace bnpvi::dynamics {

/// A fit of a switching linear dynamical system. A lap (pass over the data) updates q(x) and q(z) twice,
/// makes a global step, and tries to move the noise past its optimum. Once laps gain little, moves follow.
/// Moves of hidden Markov models are made at fixed q(x). The model is then a hidden Markov model whose rows
/// are expected features, so the gains of moves are exact. Births by window (window_birth.h) also change
/// q(x). A lap is still (nothing is left to try) if it accepts no move and enough windows have failed. The
/// bound never falls.
class LdsFit final : public Fit {
 public:
  LdsFit(const LdsProblem& problem, LdsState start, const LearnOptions& options);
  /// Reads a fit that write() wrote. The fields of learned priors come first in the input. The caller must
  /// have read them already (read_arrays).
  LdsFit(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, Reader& in,
         const LearnOptions& options);

  const LdsState& state() const { return state_; }

  LapRecord lap(Index n) override;
  bool whole() const override { return whole_; }
  double objective() const override { return state_.elbo; }
  bool still() const override { return still_; }
  double units() const override { return units_; }
  double slack() const override;
  void keep() override { kept_ = state_, whole_ = true; }
  void go_back() override { state_ = *kept_; }
  void write(Writer& out) const override;

 private:
  bool quiet() const { return !may_have_births() || failures_ >= failures_needed_; }
  bool may_have_births() const;
  void exchange_names();
  bool exchange_with_rounds();
  void go_beyond(const Vec& before);
  void moves_of_modes(LapRecord& record);
  void births(LapRecord& record);
  void fewer(LapRecord& record);

  const LdsProblem problem_;
  const LearnOptions options_;
  const Index failures_needed_;
  const double units_;
  LdsState state_;
  std::optional<LdsState> kept_;
  bool whole_ = false, still_ = false;
  double gain_ = 1e300;  // gain of the bound in the last lap
  Index failures_ = 0, tried_ = 0;
  Index joined_ = 0;           // number of modes at which no pair could be joined
  double exchanged_ = -1e300;  // bound at which no two modes could swap their known noise
  double beyond_ = 2;
  Index wait_ = 0;
};

}  // namespace bnpvi::dynamics
