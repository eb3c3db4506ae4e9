#include "observations/scaled_predictive.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi {

namespace {
constexpr double negligible_tails = 1e-9;  // points of q(ν) with less probability are left out
constexpr std::size_t enough = 12;       // number of points of q(ν) above which every other one is left out
constexpr double depth = 34;             // points lower than the mode by this are left out
constexpr double share_of_spread = 0.6;  // step size, in standard deviations of log u at the largest ν
constexpr double most_apart = 64;        // ratio of the precisions of log u at points integrated together
}  // namespace

ScaledPredictive::ScaledPredictive(std::vector<WishartModel::StudentRows> blocks, const ShapeLattice& tails)
    : blocks_(std::move(blocks)) {
  for (const auto& block : blocks_) responses_ += static_cast<double>(block.responses);
  Vec prob;
  for (std::size_t i = 0; i < tails.prob().size(); ++i) {
    if (tails.prob()[i] < negligible_tails) continue;
    half_.push_back(tails.shape()[i] / 2);
    prob.push_back(tails.prob()[i]);
  }
  if (prob.size() > enough) {
    Vec half, some;
    for (std::size_t i = 0; i < prob.size(); i += 2) half.push_back(half_[i]), some.push_back(prob[i]);
    half_ = half;
    prob = some;
  }
  double sum = 0;
  for (double x : prob) sum += x;
  for (double x : prob) log_weight_.push_back(std::log(x / sum));
  for (std::size_t i = 0; i < prob.size(); ++i) log_weight_[i] -= stirling_remainder(half_[i]);
  const auto precision = [&](std::size_t i) { return half_[i] + responses_ / 2; };
  for (std::size_t first = 0, end; first < prob.size(); first = end) {
    double nu = 0, mass = 0;
    const double most = most_apart * precision(first);
    for (end = first; end < prob.size() && !(precision(end) > most); ++end) {
      nu += 2 * half_[end] * prob[end];
      mass += prob[end];
    }
    points_.push_back({first, end, nu / mass, share_of_spread / std::sqrt(precision(end - 1))});
  }
}

// Log density of log u times that of the row. Given ν, the density of log u is exp((ν/2)(log u − u + 1)) up
// to a constant.
double ScaledPredictive::height(const Row& row, const Points& points, double log_u) const {
  const double u = std::exp(log_u), away = log_u - u + 1;
  double top = -INFINITY, sum = 0;
  for (std::size_t i = points.first; i < points.end; ++i)
    top = std::max(top, log_weight_[i] + half_[i] * away);
  for (std::size_t i = points.first; i < points.end; ++i)
    sum += std::exp(log_weight_[i] + half_[i] * away - top);
  double out = top + std::log(sum);
  const double scale = std::exp(log_u + row.log_near);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const auto& [a, square] = row.squares[b];
    const double d = static_cast<double>(blocks_[b].responses);
    out += blocks_[b].constant + 0.5 * d * log_u -
           0.5 * (blocks_[b].df + 1) * std::log1p(scale * square / (1 + scale * a)) -
           0.5 * d * std::log1p(scale * a);
  }
  return out;
}

double ScaledPredictive::operator()(const double* phi) const {
  Row row{-std::log(phi[0]), {}};
  double distance = 0;
  Index at = 1;
  for (const auto& block : blocks_) {
    const Index m = block.regressors + block.responses;
    Vec own{phi[0]}, scratch(static_cast<std::size_t>(m));
    own.insert(own.end(), phi + at, phi + at + m * (m + 1) / 2);
    double a, b;
    block.squares(own.data(), 1, scratch.data(), a, b);
    row.squares.emplace_back(a, b);
    distance += block.df * b / (1 + a);
    at += m * (m + 1) / 2;
  }
  Vec parts;
  for (const Points& points : points_) parts.push_back(log_integral(row, distance, points));
  const double top = *std::max_element(parts.begin(), parts.end());
  double sum = 0;
  for (double part : parts) sum += std::exp(part - top);
  return top + std::log(sum);
}

double ScaledPredictive::log_integral(const Row& row, double distance, const Points& points) const {
  double x = std::log((points.nu + responses_) / (points.nu + distance)) - row.log_near,
         here = height(row, points, x);
  for (double step = 8 * points.step; step >= points.step; step /= 2)
    for (int i = 0; i < 1000; ++i) {
      const double right = height(row, points, x + step), left = height(row, points, x - step);
      if (!(std::max(left, right) > here)) break;
      x += right > left ? step : -step;
      here = std::max(left, right);
    }
  double sum = 1;
  for (double side : {-points.step, points.step})
    for (double at_x = x + side;; at_x += side) {
      const double more = height(row, points, at_x) - here;
      if (!(more > -depth)) break;
      sum += std::exp(more);
    }
  return here + std::log(sum * points.step);
}

}  // namespace bnpvi
