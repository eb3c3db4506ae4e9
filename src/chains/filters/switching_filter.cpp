#include "chains/filters/switching_filter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "chains/filters/particle_selection.h"

namespace bnpvi::chains {

namespace {

bool finite(const double* x, Index n, Index apart = 1) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += std::abs(x[i * apart]);
  return std::isfinite(sum);
}

// Means and variances of the coordinates of a mixture whose n parts have these means and variances (n × d
// each).
void moments(const Vec& weight, const Vec& mean, const Vec& variance, Vec& out_mean, Vec& out_variance,
             Index d) {
  out_mean.assign(static_cast<std::size_t>(d), 0.0);
  out_variance = out_mean;
  double total = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] == 0) continue;
    total += weight[i];
    for (Index j = 0; j < d; ++j) out_mean[j] += weight[i] * mean[i * d + j];
  }
  for (double& x : out_mean) x /= total;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] == 0) continue;
    for (Index j = 0; j < d; ++j) {
      const double off = mean[i * d + j] - out_mean[j];
      out_variance[j] += weight[i] / total * (variance[i * d + j] + off * off);
    }
  }
}

// For each coordinate of a mixture of Gaussians: the probability of a value of at most y; ½ for a part that
// has all its mass at y.
void below(const Vec& weight, const Vec& mean, const Vec& variance, const double* y, Vec& out, Index d) {
  out.assign(static_cast<std::size_t>(d), 0.0);
  double total = 0;
  for (double w : weight) total += w;
  for (Index j = 0; j < d; ++j) {
    if (std::isnan(y[j])) out[j] = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < weight.size(); ++i) {
      if (weight[i] == 0) continue;
      const double off = mean[i * d + j] - y[j], sd = std::sqrt(variance[i * d + j]);
      const double p = sd > 0 ? 0.5 * std::erfc(off / sd * std::sqrt(0.5)) : off == 0 ? 0.5 : off < 0;
      out[j] += weight[i] / total * p;
    }
  }
}

}  // namespace

// All candidates, numbered parent × width + mode; entries with prior 0 are left empty.
struct SwitchingFilter::Candidates {
  Index width;                     // K, or 1 where the row has no mode
  Vec prior, log_p;                // weight before the row; log p(y | candidate)
  Vec mean, variance;              // × m: of the state, after the row
  Vec ahead_mean, ahead_variance;  // × D: of the row, before it
};

class SwitchingFilter::SeenRow {
 public:
  SeenRow(const std::vector<LinearSystem>& systems, const RowOfSystem& given)
      : given_(given), modes_(systems[0].by_mode ? systems[0].k : 1) {
    for (const LinearSystem& s : systems)
      for (Index mode = 0; mode < modes_; ++mode) seen_.push_back(observe(s, mode, given.y, given.u));
  }
  const Observed& by(Index system, Index mode) const {
    return seen_[system * modes_ + (modes_ > 1 ? mode : 0)];
  }
  const double* y() const { return given_.y; }
  const double* u() const { return given_.u; }

 private:
  const RowOfSystem given_;
  const Index modes_;
  std::vector<Observed> seen_;
};

SwitchingFilter::SwitchingFilter(std::vector<LinearSystem> systems, Index most, bool collapse)
    : systems_(std::move(systems)), most_(most), collapse_(collapse) {}

// Number of parents; before the first row, each system is one.
Index SwitchingFilter::parents(const Particles& particles) const {
  return particles.n() > 0 ? particles.n() : n_systems();
}

int SwitchingFilter::system_of(const Particles& particles, Index parent) const {
  return particles.n() > 0 ? particles.system[parent] : static_cast<int>(parent);
}

double SwitchingFilter::prior_of(const Particles& particles, Index parent, Index mode) const {
  const LinearSystem& s = systems_[system_of(particles, parent)];
  if (particles.n() > 0) return particles.weight[parent] * s.step(particles.mode[parent], mode);
  const double each = 1.0 / static_cast<double>(n_systems());
  return s.by_mode ? each * s.step(-1, mode) : each;
}

void SwitchingFilter::place(const Particles& particles, Index parent, Index mode, const double* u,
                            double* mean, double* cov) const {
  const LinearSystem& s = systems_[system_of(particles, parent)];
  if (particles.n() > 0) {
    predict_state(s, mode, u, particles.mean.data() + parent * s.m, particles.cov.data() + parent * s.m * s.m,
                  mean, cov);
  } else {
    std::copy(s.start_mean.begin(), s.start_mean.end(), mean);
    std::copy(s.start_var.begin(), s.start_var.end(), cov);
  }
}

Trouble SwitchingFilter::extend(const Particles& particles, const SeenRow& row, Index parent,
                                Candidates& all) const {
  const int number = system_of(particles, parent);
  const LinearSystem& s = systems_[number];
  Vec mean(static_cast<std::size_t>(s.m)), cov(static_cast<std::size_t>(s.m * s.m));
  for (Index mode = 0; mode < all.width; ++mode) {
    const Index at = parent * all.width + mode;
    all.prior[at] = prior_of(particles, parent, mode);
    if (all.prior[at] == 0) continue;
    place(particles, parent, mode, row.u(), mean.data(), cov.data());
    if (!finite(mean.data(), s.m) || !finite(cov.data(), s.m, s.m + 1)) return Trouble::overflow;
    for (Index j = 0; j < s.d; ++j) {
      const double* c = s.loadings(mode, j);
      double value = s.offset(mode, j, row.u()), variance = s.noise(mode, j)[j];
      for (Index h = 0; h < s.m; ++h) {
        value += c[h] * mean[h];
        for (Index l = 0; l < s.m; ++l) variance += c[h] * cov[h * s.m + l] * c[l];
      }
      if (!std::isfinite(value) || !std::isfinite(variance)) return Trouble::overflow;
      all.ahead_mean[at * s.d + j] = value;
      all.ahead_variance[at * s.d + j] = std::max(0.0, variance);
    }
    all.log_p[at] = update_state(row.by(number, mode), s.m, mean.data(), cov.data());
    if (std::isnan(all.log_p[at])) return Trouble::without_noise;
    std::copy(mean.begin(), mean.end(), all.mean.begin() + at * s.m);
    for (Index h = 0; h < s.m; ++h) all.variance[at * s.m + h] = std::max(0.0, cov[h * s.m + h]);
  }
  return Trouble::none;
}

FilteredRow SwitchingFilter::step(Particles& particles, const RowOfSystem& given, double uniform,
                                  Pool* pool) const {
  FilteredRow out;
  const SeenRow row(systems_, given);
  const Index n = parents(particles), m = systems_[0].m, d = systems_[0].d;
  Candidates all;
  all.width = has_mode(particles) ? systems_[0].k : 1;
  const std::size_t size = static_cast<std::size_t>(n * all.width);
  all.prior.resize(size);
  all.log_p.assign(size, -std::numeric_limits<double>::infinity());
  all.mean.resize(size * m);
  all.variance.resize(size * m);
  all.ahead_mean.resize(size * d);
  all.ahead_variance.resize(size * d);
  std::vector<Trouble> trouble(static_cast<std::size_t>(n), Trouble::none);
  for_each_part(pool, n, [&](Index i) { trouble[i] = extend(particles, row, i, all); });
  for (Trouble t : trouble)
    if (t != Trouble::none) {
      out.trouble = t;
      return out;
    }

  Vec weight(size);
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t i = 0; i < size; ++i)
    if (all.prior[i] > 0) top = std::max(top, weight[i] = std::log(all.prior[i]) + all.log_p[i]);
  if (!std::isfinite(top)) {
    out.trouble = Trouble::no_density;
    return out;
  }
  for (std::size_t i = 0; i < size; ++i) sum += weight[i] = all.prior[i] > 0 ? std::exp(weight[i] - top) : 0;
  for (double& w : weight) w /= sum;
  out.log_density = top + std::log(sum);
  describe(all, weight, given.y, has_mode(particles), out);
  particles = collapse_ ? merge(particles, row, all, weight)
                        : keep(particles, row, all, weight, uniform, pool, out.origin);
  return out;
}

void SwitchingFilter::describe(const Candidates& all, const Vec& weight, const double* y, bool has_mode,
                               FilteredRow& out) const {
  const Index k = systems_[0].k;
  double squares = 0;
  for (double w : weight) squares += w * w;
  out.size = 1 / squares;
  if (has_mode) {
    out.prob.assign(static_cast<std::size_t>(k), 0.0);
    for (std::size_t i = 0; i < weight.size(); ++i) out.prob[static_cast<Index>(i) % k] += weight[i];
  }
  moments(weight, all.mean, all.variance, out.mean, out.variance, systems_[0].m);
  moments(all.prior, all.ahead_mean, all.ahead_variance, out.ahead_mean, out.ahead_variance, systems_[0].d);
  below(all.prior, all.ahead_mean, all.ahead_variance, y, out.below, systems_[0].d);
}

Particles SwitchingFilter::keep(const Particles& from, const SeenRow& row, const Candidates& all,
                                const Vec& weight, double uniform, Pool* pool,
                                std::vector<int>& origin) const {
  const Index m = systems_[0].m;
  const bool moded = has_mode(from);
  Selection chosen = select_particles(weight, most_, uniform);
  const Index n = static_cast<Index>(chosen.kept.size());
  Particles to;
  to.mode.resize(static_cast<std::size_t>(n));
  to.system.resize(to.mode.size());
  to.mean.resize(static_cast<std::size_t>(n * m));
  to.cov.resize(static_cast<std::size_t>(n * m * m));
  for_each_part(pool, n, [&](Index i) {
    const Index parent = chosen.kept[i] / all.width, mode = chosen.kept[i] % all.width;
    to.mode[i] = moded ? static_cast<int>(mode) : -1;
    to.system[i] = system_of(from, parent);
    place(from, parent, mode, row.u(), to.mean.data() + i * m, to.cov.data() + i * m * m);
    update_state(row.by(to.system[i], mode), m, to.mean.data() + i * m, to.cov.data() + i * m * m);
  });
  double sum = 0;
  for (double w : chosen.weight) sum += w;
  for (double& w : chosen.weight) w /= sum;
  to.weight = std::move(chosen.weight);
  if (moded) origin.assign(chosen.kept.begin(), chosen.kept.end());
  return to;
}

Particles SwitchingFilter::merge(const Particles& from, const SeenRow& row, const Candidates& all,
                                 const Vec& weight) const {
  const Index m = systems_[0].m;
  const bool moded = has_mode(from);
  // Position of each system and mode among the merged particles.
  std::vector<int> place_of(static_cast<std::size_t>(n_systems() * all.width), -1);
  const auto group = [&](std::size_t i) -> int& {
    const Index at = static_cast<Index>(i);
    return place_of[system_of(from, at / all.width) * all.width + at % all.width];
  };
  for (std::size_t i = 0; i < weight.size(); ++i)
    if (weight[i] > 0) group(i) = 0;
  Particles to;
  for (std::size_t g = 0; g < place_of.size(); ++g) {
    if (place_of[g] < 0) continue;
    place_of[g] = static_cast<int>(to.n());
    to.system.push_back(static_cast<int>(static_cast<Index>(g) / all.width));
    to.mode.push_back(moded ? static_cast<int>(static_cast<Index>(g) % all.width) : -1);
  }
  to.weight.resize(to.mode.size());
  to.mean.resize(to.mode.size() * m);
  to.cov.resize(to.mode.size() * m * m);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (!(weight[i] > 0)) continue;
    const int g = group(i);
    to.weight[g] += weight[i];
    for (Index h = 0; h < m; ++h) to.mean[g * m + h] += weight[i] * all.mean[i * m + h];
  }
  for (Index g = 0; g < to.n(); ++g)
    for (Index h = 0; h < m; ++h) to.mean[g * m + h] /= to.weight[g];
  Vec mean(static_cast<std::size_t>(m)), cov(static_cast<std::size_t>(m * m));
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (!(weight[i] > 0)) continue;
    const int g = group(i);
    const Index at = static_cast<Index>(i);
    const Index mode = at % all.width;
    place(from, at / all.width, mode, row.u(), mean.data(), cov.data());
    update_state(row.by(to.system[g], mode), m, mean.data(), cov.data());
    const double share = weight[i] / to.weight[g];
    for (Index h = 0; h < m; ++h) mean[h] -= to.mean[g * m + h];
    for (Index h = 0; h < m; ++h)
      for (Index l = 0; l < m; ++l)
        to.cov[(g * m + h) * m + l] += share * (cov[h * m + l] + mean[h] * mean[l]);
  }
  return to;
}

}  // namespace bnpvi::chains
