// Memoized coordinate ascent for latent features.
#pragma once
#include "features/moves.h"
#include "inference/learn/learn.h"

namespace bnpvi::features {

/// A fit of latent features. A lap is one pass over all batches, with moves (births, deletes, merges and
/// others). A lap is still if it accepts no move and enough births in a row have failed. The ELBO is that of
/// all rows, and never falls.
class FeatureFit final : public Fit {
 public:
  FeatureFit(const FeatureProblem& problem, FeatureState start, const LearnOptions& options);
  /// Reads a fit that write() wrote. Throws std::invalid_argument if the input is not such a fit, or was
  /// written with other numerical kernels.
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
  bool quiet() const;  // true if nothing is left to try; then visits of rows also search for other optima
  bool may_have_births() const;
  void several_births(LapRecord& record);
  void births(Index b, LapRecord& record);
  Stream birth_stream();

  const FeatureProblem problem_;
  const LearnOptions options_;
  FeatureState state_, kept_;
  FailedMoves failed_;
  bool several_ = true;     // false: births of several features at once have failed
  Index quiet_births_ = 0;  // number of births that failed since the last success
  Index births_tried_ = 0;
  bool still_ = false;
};

}  // namespace bnpvi::features
