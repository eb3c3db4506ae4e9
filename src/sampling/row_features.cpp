#include "sampling/row_features.h"

namespace bnpvi {

namespace {
constexpr Index most_kept = Index{1} << 25;  // doubles: 256 MB, a guess
}

RowFeatures::RowFeatures(const ObsModel& obs, const Dataset& data)
    : obs_(obs), data_(data), p_(obs.n_features()), rows_(modelled_rows(data.starts, obs.lag())) {
  if (rows_.empty() || n() > most_kept / p_) return;
  kept_.resize(static_cast<std::size_t>(n() * p_));
  obs_.features(data_, rows_.data(), n(), kept_.data(), p_);
}

}  // namespace bnpvi
