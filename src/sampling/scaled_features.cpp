#include "sampling/scaled_features.h"

namespace bnpvi {

namespace {

Vec all_of(const RowFeatures& rows) {
  Vec out(static_cast<std::size_t>(rows.n() * rows.p())), buffer = rows.buffer();
  for (Index i = 0; i < rows.n(); ++i)
    std::copy_n(rows.of(i, buffer.data()), rows.p(), out.data() + i * rows.p());
  return out;
}

}  // namespace

ScaledFeatures::ScaledFeatures(const ObsModel& obs, const RowFeatures& plain)
    : scales_(*hidden_scales(obs)),
      plain_(plain),
      rows_(obs, all_of(plain)),
      phi_(static_cast<std::size_t>(plain.p())) {}

void ScaledFeatures::find(Index i, const double* u, double* phi) const {
  const double* own = plain_.of(i, phi);
  if (own != phi) std::copy_n(own, plain_.p(), phi);
  scales_.give_scales(u, phi);
}

void ScaledFeatures::give(Index i, const double* u) {
  find(i, u, phi_.data());
  rows_.replace(i, phi_.data());
}

void ScaledFeatures::give_all(const double* u) {
  for (Index i = 0; i < rows_.n(); ++i) give(i, u + i * n_scales());
}

}  // namespace bnpvi
