// Long steps of a fit: where a lap (pass over all batches) changes little, the same change several times
// over.
#pragma once
#include <limits>

#include "inference/learn/state.h"

namespace bnpvi {

/// How a fit goes on where laps (passes over all batches) gain little, but more than what ends it. Clusters
/// that overlap then approach an optimum so slowly that it is nats away when a lap gains next to nothing. A
/// plain value. end: nats by which a lap of a converged fit may raise the ELBO.
class LongSteps {
 public:
  /// Records by how much a lap has raised the ELBO, with its moves.
  void gained(double nats) { gained_ = nats; }

  /// True if the last lap gained more than what ends a fit, but not much more. Moves that find most where
  /// clusters hardly change then wait.
  bool waits(double end) const { return gained_ > end && gained_ < much * end; }

  /// Tries a step in the direction of the visits of a lap. gain: by how much these have raised the ELBO, to
  /// that in `state`. Unless this is much or next to nothing, the sums of statistics go on by what they have
  /// changed since `before`, several times over, and all batches are visited with the globals of that place.
  /// If this raises the ELBO, the next step is longer; otherwise it is shorter, and the state stays. Clusters
  /// have the same numbers in `before` as in the state.
  void take(const Problem& problem, State& state, const Summary& before, double gain, double end,
            Visitor& visitor, Pool& pool);

  void write(Writer& out) const;
  static LongSteps read(Reader& in);

 private:
  static constexpr double much = 30, least = 0.1;                 // times what ends a fit (guesses)
  static constexpr double shortest = 1, first = 4, longest = 64;  // lengths of steps (guesses)

  double gained_ = std::numeric_limits<double>::infinity();
  double length_ = first;  // of the next step, in multiples of what the visits of a lap change
};

}  // namespace bnpvi
