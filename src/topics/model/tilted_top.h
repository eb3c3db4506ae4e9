// The weights and effects of topics whose documents' proportions depend on covariates, as globals store them.
#pragma once
#include <memory>
#include <mutex>

#include "topics/model/topic_tilt.h"

namespace bnpvi::topics {

/// The sticks of the weights that all documents share, and the effects of covariates on each topic.
struct TiltedTop {
  HdpSticks sticks;
  std::vector<TopicEffect> effect;

  /// For each topic û_k and ω̂_k of its stick, then its effect: width() numbers.
  static Index width(const TopicTilt& tilt) { return 2 + TopicEffect::width(tilt); }

  Vec stored(const TopicTilt& tilt) const {
    Vec out(effect.size() * static_cast<std::size_t>(width(tilt)));
    for (std::size_t j = 0; j < effect.size(); ++j) {
      double* own = out.data() + static_cast<Index>(j) * width(tilt);
      own[0] = sticks.u[j];
      own[1] = sticks.omega[j];
      effect[j].store(own + 2);
    }
    return out;
  }
};

/// Reads stored numbers. The result of the last call is kept, since a lap asks for the same several times.
/// May be called by several threads at a time.
class TiltedTopReader {
 public:
  std::shared_ptr<const TiltedTop> read(const TopicTilt& tilt, const Vec& stored) const {
    {
      const std::lock_guard<std::mutex> guard(lock_);
      if (last_ && stored == last_stored_) return last_;
    }
    const auto out = std::make_shared<TiltedTop>();
    const Index width = TiltedTop::width(tilt), k = static_cast<Index>(stored.size()) / width;
    out->effect.reserve(static_cast<std::size_t>(k));
    for (Index j = 0; j < k; ++j) {
      const double* own = stored.data() + j * width;
      out->sticks.u.push_back(own[0]);
      out->sticks.omega.push_back(own[1]);
      out->effect.emplace_back(tilt, own + 2);
    }
    const std::lock_guard<std::mutex> guard(lock_);
    last_stored_ = stored;
    last_ = out;
    return out;
  }

 private:
  mutable std::mutex lock_;
  mutable Vec last_stored_;
  mutable std::shared_ptr<const TiltedTop> last_;
};

}  // namespace bnpvi::topics
