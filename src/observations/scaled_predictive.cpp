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
  for (std::size_t i = 0; i < prob.size(); ++i) {
    nu_ += 2 * half_[i] * prob[i] / sum;
    log_weight_.push_back(std::log(prob[i] / sum) - stirling_remainder(half_[i]));
  }
  widest_ = share_of_spread * std::sqrt(1 / (half_.back() + responses_ / 2));
}

// Log density of log u times that of the row. Given ν, the density of log u is exp((ν/2)(log u − u + 1)) up
// to a constant.
double ScaledPredictive::height(const Row& row, double log_u) const {
  const double u = std::exp(log_u), away = log_u - u + 1;
  double top = -INFINITY, sum = 0;
  for (std::size_t i = 0; i < half_.size(); ++i) top = std::max(top, log_weight_[i] + half_[i] * away);
  for (std::size_t i = 0; i < half_.size(); ++i) sum += std::exp(log_weight_[i] + half_[i] * away - top);
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
  double x = std::log((nu_ + responses_) / (nu_ + distance)) - (phi[0] < 1 ? row.log_near : 0),
         here = height(row, x);
  for (double step = 8 * widest_; step >= widest_; step /= 2)
    for (int i = 0; i < 1000; ++i) {
      const double right = height(row, x + step), left = height(row, x - step);
      if (!(std::max(left, right) > here)) break;
      x += right > left ? step : -step;
      here = std::max(left, right);
    }
  double sum = 1;
  for (double side : {-widest_, widest_})
    for (double at_x = x + side;; at_x += side) {
      const double more = height(row, at_x) - here;
      if (!(more > -depth)) break;
      sum += std::exp(more);
    }
  return here + std::log(sum * widest_);
}

}  // namespace bnpvi
