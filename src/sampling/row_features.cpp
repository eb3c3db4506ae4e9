#include "sampling/row_features.h"

#include <numeric>
#include <utility>

#include "observations/capabilities.h"

namespace bnpvi {

namespace {
constexpr Index most_kept = Index{1} << 25;  // largest number of stored doubles, 256 MB: a guess
}

RowFeatures::RowFeatures(const ObsModel& obs, const Dataset& data)
    : RowFeatures(obs, data, modelled_rows(data.starts, obs.capabilities().lag)) {}

RowFeatures::RowFeatures(const ObsModel& obs, const Dataset& data, std::vector<Index> rows)
    : obs_(obs), data_(&data), p_(obs.n_features()), rows_(std::move(rows)) {
  if (rows_.empty() || n() > most_kept / p_) return;
  kept_.resize(static_cast<std::size_t>(n() * p_));
  obs_.features(*data_, rows_.data(), n(), kept_.data(), p_);
}

RowFeatures::RowFeatures(const ObsModel& obs, Vec phi)
    : obs_(obs),
      p_(obs.n_features()),
      rows_(phi.size() / static_cast<std::size_t>(p_)),
      kept_(std::move(phi)) {
  std::iota(rows_.begin(), rows_.end(), Index{0});
}

void RowFeatures::add_to(double* t, Index i, double mass) const {
  Vec made = buffer();
  const double* phi = of(i, made.data());
  for (Index f = 0; f < p_; ++f) t[f] += mass * phi[f];
}

}  // namespace bnpvi
