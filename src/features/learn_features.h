// Memoized coordinate ascent for latent features.
#pragma once
#include "features/moves.h"
#include "inference/learn/learn.h"

namespace bnpvi::features {

/// A lap goes over all batches, with moves. It is still when it accepts no move and births failed on end. The
/// ELBO is that of all rows at all times and never falls.
class FeatureFit final : public Fit {
 public:
  FeatureFit(const FeatureProblem& problem, FeatureState start, const LearnOptions& options);
  /// Of what write() wrote. Throws std::invalid_argument when that is no such fit, or of other kernels.
  FeatureFit(const FeatureProblem& problem, Reader& in, const LearnOptions& options);

  const FeatureProblem& problem() const { return problem_; }
  const FeatureState& state() const { return state_; }

  LapRecord lap(Index n) override;
  double objective() const override { return state_.elbo; }
  bool still() const override { return still_; }
  double units() const override;
  double slack() const override;
  void keep() override { kept_ = state_; }
  void go_back() override { state_ = kept_; }
  void write(Writer& out) const override;

 private:
  bool quiet() const;  // is nothing left to try? then rows look for other optima of their own, too
  bool may_have_births() const;
  void several_births(LapRecord& record);
  void births(Index b, LapRecord& record);
  Stream birth_stream();

  const FeatureProblem problem_;
  const LearnOptions options_;
  FeatureState state_, kept_;
  FailedMoves failed_;
  bool several_ = true;     // births of several features at once have not failed yet
  Index quiet_births_ = 0;  // failures of births on end
  Index births_tried_ = 0;
  bool still_ = false;
};

}  // namespace bnpvi::features
