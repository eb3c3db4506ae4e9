// A fit of latent features between two laps, as a value that can be written and read.
#pragma once
#include <string>
#include <vector>

#include "features/moves.h"

namespace bnpvi::features {

/// Everything that the rest of a fit depends on, between two laps: a plain value. A fit that goes on from one
/// that was written and read has the same bits as one that was never interrupted.
struct FeatureProgress {
  FeatureState state;
  FailedMoves failed;
  bool several = true;     // births of several features at once have not failed yet
  Index quiet_births = 0;  // failures of births on end
  Index births_tried = 0;
  std::vector<LapRecord> trace;
  bool converged = false;
  std::string reason;  // "elbo", "max_laps", "numerical" or "interrupted"; empty while the fit goes on

  void write(Writer& out) const;

  /// Throws std::invalid_argument when the bytes are no progress of a fit, or were written with other
  /// kernels. Loadings come without gram, which learn_features() adds.
  static FeatureProgress read(Reader& in);
};

}  // namespace bnpvi::features
