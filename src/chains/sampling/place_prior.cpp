#include "chains/sampling/place_prior.h"

#include <cmath>

#include "foundation/special.h"
#include "foundation/variates.h"

namespace bnpvi::chains {

double PlacePrior::mass(Index row, Index j) const {
  const double all = row == start_row ? start.value : alpha.value;
  return pattern->weight(row, j, all / static_cast<double>(k) + (row == row_after(j) ? sticky.value : 0));
}

Vec PlacePrior::predictive(Index row, const TransitionCounts& counts) const {
  Vec out(static_cast<std::size_t>(k));
  double free = 0;
  for (Index j = 0; j < k; ++j) {
    out[j] = std::exp(pattern->log_constant(row, j));
    if (pattern->is_free(row, j)) free += mass(row, j) + static_cast<double>(counts(row, j));
  }
  for (Index j = 0; j < k; ++j)
    if (pattern->is_free(row, j)) out[j] *= (mass(row, j) + static_cast<double>(counts(row, j))) / free;
  return out;
}

double PlacePrior::log_of_rows(const TransitionCounts& counts) const {
  double sum = 0;
  for (Index row = 0; row <= k; ++row) {
    double all = 0, n = 0;
    for (Index j = 0; j < k; ++j) {
      const double own = static_cast<double>(counts(row, j));
      if (own > 0) sum += own * pattern->log_constant(row, j);
      if (!pattern->is_free(row, j)) continue;
      all += mass(row, j);
      n += own;
      if (own > 0) sum -= log_gamma_difference(mass(row, j), own);
    }
    if (n > 0) sum += log_gamma_difference(all, n);
  }
  return sum;
}

double PlacePrior::log_probability(const TransitionCounts& counts) const {
  double sum = log_of_rows(counts);
  for (const SampledConcentration* c : {&alpha, &start, &sticky})
    if (c->prior) sum += c->prior->log_density(c->value);
  return sum;
}

void PlacePrior::draw(const TransitionCounts& counts, Stream& stream) {
  for (SampledConcentration* c : {&alpha, &start, &sticky})
    draw_concentration(
        *c, [&] { return log_of_rows(counts); }, stream);
}

Vec PlacePrior::draw_rows(const TransitionCounts& counts, Stream& stream) const {
  Vec out;
  for (Index row = 0; row <= k; ++row) {
    Vec shape;
    for (Index j = 0; j < k; ++j)
      if (pattern->is_free(row, j)) shape.push_back(mass(row, j) + static_cast<double>(counts(row, j)));
    const Vec log_share = shape.empty() ? shape : draw_log_dirichlet(shape, stream);
    auto share = log_share.begin();
    for (Index j = 0; j < k; ++j)
      out.push_back(pattern->log_constant(row, j) + (pattern->is_free(row, j) ? *share++ : 0));
  }
  return out;
}

}  // namespace bnpvi::chains
