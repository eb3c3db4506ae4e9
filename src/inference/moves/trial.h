// Records of attempted moves, for tests that observe a fit.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// One attempt of a move, and how it ended.
struct Trial {
  const char* kind;                    // the kind of move
  std::vector<std::uint64_t> members;  // identities of the clusters concerned
  Index failures;                      // number of failed earlier attempts with the same clusters
  double gain;                         // in nats; NaN: no proposal was made
  bool accepted;
};

/// Called with the record of every attempted move, on the thread that runs the fit. Only tests set it
/// (testing/proposal_trace.h).
inline std::function<void(const Trial&)> trial_listener;

inline void tell(const Trial& trial) {
  if (trial_listener) trial_listener(trial);
}

}  // namespace bnpvi
