#include "chains/sampling/path_prior.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/special.h"
#include "hdp/tables.h"
#include "sampling/slice.h"

namespace bnpvi::chains {

namespace {

constexpr double least_weight = 1e-300;  // of β_rest: its logarithm is needed

}  // namespace

void draw_concentration(SampledConcentration& c, const std::function<double()>& log_p, Stream& stream) {
  if (!c.prior) return;
  c.value = slice_step(
      c.value, c.least, c.most,
      [&](double x) {
        c.value = x;
        return log_p() + c.prior->log_density(x);
      },
      stream);
}

std::vector<std::string> PathPrior::names() const {
  if (open_ended()) return {"gamma", "alpha", "start", "sticky"};
  return {"alpha", "start", "sticky"};
}

Vec PathPrior::values() const {
  if (open_ended()) return {gamma.value, alpha.value, start.value, sticky.value};
  return {alpha.value, start.value, sticky.value};
}

void PathPrior::set_values(const Vec& values) {
  auto next = values.begin();
  if (open_ended()) gamma.value = *next++;
  for (SampledConcentration* c : {&alpha, &start, &sticky}) c->value = *next++;
}

void PathPrior::break_weight(StateWeights& weight, Stream& stream) const {
  if (open_ended()) {
    open_cluster(weight, gamma.value, stream);
    return;
  }
  const Index k = static_cast<Index>(weight.size());  // with the new one
  const double all = static_cast<double>(most_states);
  weight.back() = 1 / all;
  weight.push_back(static_cast<double>(most_states - k) / all);
}

void PathPrior::return_weight(StateWeights& weight, Index j) {
  const std::size_t last = weight.size() - 2;
  const double rest = weight.back() + weight[j];
  weight[j] = weight[last];
  weight.pop_back();
  weight[last] = rest;
}

double PathPrior::log_of_rows(const TransitionCounts& counts, const StateWeights& weight) const {
  double sum = 0;
  for (Index row = 0; row <= counts.k(); ++row) {
    if (counts.sum(row) == 0) continue;
    sum += log_gamma_difference(mass(row), static_cast<double>(counts.sum(row)));
    for (Index j = 0; j < counts.k(); ++j)
      if (counts(row, j) > 0)
        sum -= log_gamma_difference(mass(row, j, weight), static_cast<double>(counts(row, j)));
  }
  return sum;
}

double PathPrior::log_probability(const TransitionCounts& counts, const StateWeights& weight) const {
  const double k = static_cast<double>(counts.k());
  double sum = log_of_rows(counts, weight);
  if (open_ended()) {
    sum += k * std::log(gamma.value) + gamma.value * std::log(std::max(weight.back(), least_weight));
  } else {
    const double all = static_cast<double>(most_states);
    sum += log_gamma(all + 1) - log_gamma(all - k + 1);
  }
  for (const SampledConcentration* c : {&gamma, &alpha, &start, &sticky})
    if (c->prior) sum += c->prior->log_density(c->value);
  return sum;
}

void PathPrior::draw(const TransitionCounts& counts, StateWeights& weight, Stream& stream) {
  if (open_ended()) {
    std::vector<Index> tables(static_cast<std::size_t>(counts.k()), 0);
    for (Index row = 0; row <= counts.k(); ++row)
      draw_row_tables(counts.of(row), weight, concentration(row), row == start_row ? 0 : sticky.value,
                      row - 1, tables, stream);
    if (gamma.prior) {
      const Index all = std::accumulate(tables.begin(), tables.end(), Index{0});
      gamma.set(draw_top_concentration(*gamma.prior, gamma.value, counts.k(), all, stream));
    }
    weight = draw_top_weights(Vec(tables.begin(), tables.end()), gamma.value, stream);
  }
  for (SampledConcentration* c : {&alpha, &start, &sticky})
    draw_concentration(
        *c, [&] { return log_of_rows(counts, weight); }, stream);
}

}  // namespace bnpvi::chains
