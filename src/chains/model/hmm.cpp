#include "chains/model/hmm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chains/model/chain_memory.h"
#include "chains/moves/moves.h"
#include "foundation/special.h"
#include "hdp/sticks.h"

namespace bnpvi::chains {

double transition_count(const Summary& s, Index row, Index k) {
  return std::max(0.0, row == 0 ? s.extra[k] : s.of_pair((row - 1) % s.k, k, (row - 1) / s.k));
}

SummaryShape HmmAlloc::shape(const ObsModel& obs) const {
  return {obs.n_features(), 1, prior_.tilt ? prior_.tilt->patterns() : prior_.positions, 1};
}

double HmmAlloc::count(const Summary& s, Index row, Index j) const {
  return !prior_.tilt || row == 0 ? transition_count(s, row, j) : sum_over_patterns(s, row - 1, j);
}

HdpSticks HmmAlloc::sticks(const Globals& globals) const {
  const Index k = has_sticks() ? static_cast<Index>(globals.omega.size()) : 0;
  return {Vec(globals.u.begin(), globals.u.begin() + k), globals.omega};
}

Vec HmmAlloc::tilts(const Globals& globals) const {
  return Vec(globals.u.begin() + (has_sticks() ? static_cast<Index>(globals.omega.size()) : 0),
             globals.u.end());
}

Globals HmmAlloc::stochastic_step(const Globals& from, const Summary& noisy, double rate) const {
  Summary effective = from.effective;
  effective.scale(1 - rate);
  effective.add(noisy, rate);
  return global_step(effective, from);
}

Globals HmmAlloc::merged(const Globals& globals, Index a, Index b) const {
  Globals out = globals;
  out.weights = nullptr;
  out.effective.merge(a, b);
  out.u.clear();
  if (has_sticks()) {
    Vec pi = weights_from_sticks(sticks(globals).u);
    pi[a] += pi[b];
    pi.erase(pi.begin() + b);
    out.u = sticks_from_weights(pi);
    out.omega.erase(out.omega.begin() + b);
  }
  if (!prior_.tilt) return out;
  const Index width = globals.effective.k + has_sticks();
  const Vec near = prior_.tilt->joined(globals.effective, tilts(globals), width, a, b),
            q = prior_.tilt->best(out.effective, prior_rows(out.effective.k, weights(out)), near, true);
  out.u.insert(out.u.end(), q.begin(), q.end());
  return out;
}

Globals HmmAlloc::with_empty_state(Globals globals) const {
  globals.effective.append(1);
  const Index k = globals.effective.k;
  if (prior_.tilt)
    globals.u = prior_.tilt->best(globals.effective, prior_rows(k, weights(globals)), {}, true);
  return globals;
}

void HmmAlloc::append_row(const Summary* counts, Index k, const Vec& pi, Index row, Vec& theta) const {
  for (Index j = 0; j < static_cast<Index>(pi.size()); ++j) {
    const double n = counts && j < k ? count(*counts, row, j) : 0,
                 own = row > 0 && j == (row - 1) % k ? prior_.sticky.value : 0,
                 usual = concentration(row) * pi[j];
    if (!prior_.pattern) {
      theta.push_back(usual + n + own);
    } else {
      const Index at = pattern_row(row, k);
      theta.push_back(prior_.pattern->is_free(at, j) ? prior_.pattern->weight(at, j, usual + own) + n : 0);
    }
  }
}

double HmmAlloc::log_cell(Index row, Index j, Index k, double log_p) const {
  if (!prior_.pattern) return log_p;
  const Index at = pattern_row(row, k);
  const double constant = prior_.pattern->log_constant(at, j);
  return prior_.pattern->is_free(at, j) ? constant + log_p : constant;
}

TransitionRows HmmAlloc::rows(const Globals& globals) const {
  const Vec pi = weights(globals);
  if (!prior_.tilt) return rows(globals.effective, pi);
  TransitionRows out{globals.effective.k, static_cast<Index>(pi.size()), {}};
  append_row(&globals.effective, out.k, pi, 0, out.theta);
  const Vec theta = prior_.tilt->theta(tilts(globals), out.k, out.width);
  out.theta.insert(out.theta.end(), theta.begin(), theta.end());
  return out;
}

TransitionRows HmmAlloc::rows(const Summary* counts, Index k, const Vec& pi) const {
  TransitionRows out{k, static_cast<Index>(pi.size()), {}};
  const Index n = 1 + prior_.positions * k;
  out.theta.reserve(static_cast<std::size_t>(n * out.width));
  for (Index row = 0; row < n; ++row) append_row(counts, k, pi, row, out.theta);
  return out;
}

double HmmAlloc::value_of_rows(const Summary& total, const Globals& globals, const WeightMoments& moments,
                               bool start) const {
  const Vec pi = weights(globals);
  TransitionRows part{total.k, static_cast<Index>(pi.size()), {}};
  for (Index row = start ? 0 : 1; row <= (start ? 0 : prior_.positions * total.k); ++row)
    append_row(&total, total.k, pi, row, part.theta);
  RoundedSum sum = sum_of_log_gammas(part);
  for (double all : part.sums())
    if (all > 0) sum.add(-log_gamma(all));
  add_normalisers(total.k, moments, start, sum);
  return sum.term() + log_hyperprior();
}

Chain HmmAlloc::expected_chain(const Globals& globals) const {
  const TransitionRows theta = rows(globals);
  const Vec sums = theta.sums(), logs = digammas(theta);
  Vec log_p;
  log_p.reserve(static_cast<std::size_t>(theta.n() * theta.k));
  for (Index row = 0; row < theta.n(); ++row) {
    const double all = sums[row] > 0 ? digamma(sums[row]) : 0;
    for (Index j = 0; j < theta.k; ++j)
      log_p.push_back(log_cell(row, j, theta.k, logs[row * theta.width + j] - all));
  }
  if (prior_.tilt)
    return Chain(theta.k, Vec(log_p.begin(), log_p.begin() + theta.k),
                 prior_.tilt->log_potentials(tilts(globals), theta.k, theta.width));
  return Chain(theta.k, Vec(log_p.begin(), log_p.begin() + theta.k),
               Vec(log_p.begin() + theta.k, log_p.end()), prior_.pattern && prior_.pattern->has_zeros());
}

Chain HmmAlloc::mean_chain(const Globals& globals) const {
  const TransitionRows theta = rows(globals);
  const Vec sums = theta.sums();
  Vec log_p, unused;  // unused: the row of a state not in use, after those of each position
  if (theta.width > theta.k) {
    const Vec pi = weights(globals);
    const double alpha = prior_.alpha.value, sticky = prior_.sticky.value, all = alpha + sticky;
    for (Index j = 0; j < theta.width; ++j)
      unused.push_back(std::log((alpha * pi[j] + (j == theta.k ? sticky : 0)) / all));
  }
  if (prior_.tilt) {
    Vec log_start;
    for (Index j = 0; j < theta.width; ++j) log_start.push_back(std::log(theta.theta[j] / sums[0]));
    const Vec shares = prior_.tilt->shares(tilts(globals), theta.k, theta.width);
    const Index block = theta.k * theta.width;
    for (Index at = 0; at < static_cast<Index>(shares.size()); at += block) {
      for (Index i = at; i < at + block; ++i) log_p.push_back(std::log(shares[i]));
      log_p.insert(log_p.end(), unused.begin(), unused.end());
    }
    return Chain(theta.width, log_start, log_p);
  }
  for (Index row = 0; row < theta.n(); ++row) {
    const double all = std::log(sums[row]);
    for (Index j = 0; j < theta.width; ++j)
      log_p.push_back(log_cell(row, j, theta.k, std::log(theta.row(row)[j]) - all));
    if (row > 0 && row % theta.k == 0) log_p.insert(log_p.end(), unused.begin(), unused.end());
  }
  return Chain(theta.width, Vec(log_p.begin(), log_p.begin() + theta.width),
               Vec(log_p.begin() + theta.width, log_p.end()), prior_.pattern && prior_.pattern->has_zeros());
}

RoundedSum HmmAlloc::transition_value(const Summary& total, const Globals& globals) const {
  TransitionRows theta = rows(globals);
  if (prior_.tilt) theta.theta.resize(static_cast<std::size_t>(theta.width));  // the row of first states
  const Vec sums = theta.sums();
  RoundedSum value = sum_of_log_gammas(theta);
  if (prior_.pattern) value.add(prior_.pattern->value(total));
  if (prior_.tilt)
    value.add(prior_.tilt->value(total, prior_rows(total.k, weights(globals)), tilts(globals)));
  for (Index row = 0; row < theta.n(); ++row) {
    if (!(sums[row] > 0)) continue;
    value.add(-log_gamma(sums[row]));
    for (Index j = 0; j < theta.k; ++j) {
      if (!(theta.row(row)[j] > 0)) continue;
      const double more = count(total, row, j) - count(globals.effective, row, j);
      if (more != 0) value.add(more * (digamma(theta.row(row)[j]) - digamma(sums[row])));
    }
  }
  return value;
}

void HmmAlloc::complete_start(Summary& s, double n_groups) const {
  const Vec n = s.sizes();
  const double rows = std::accumulate(n.begin(), n.end(), 0.0);
  for (Index i = 0; i < s.k; ++i) {
    s.extra[i] = n_groups * n[i] / rows;
    for (Index j = 0; j < s.k; ++j)
      for (Index p = 0; p < s.shape.pairs; ++p)
        s.of_pair(i, j, p) = n[i] * n[j] / rows / static_cast<double>(s.shape.pairs);
  }
  if (prior_.pattern) prior_.pattern->leave_out_forbidden(s);
}

std::shared_ptr<const UnitMemory> HmmAlloc::joined_memory(
    const std::shared_ptr<const UnitMemory>& rest, const std::shared_ptr<const UnitMemory>& again) const {
  if (!rest || !again) return again;
  return with_newer(*rest, *again);
}

std::shared_ptr<const AllocModel> HmmAlloc::learned(const State& state, Pool*) const {
  const WeightMoments moments = weight_moments(sticks(state.globals));
  HmmPrior prior = prior_;
  bool any = false;
  for (Concentration HmmPrior::*which : {&HmmPrior::alpha, &HmmPrior::start, &HmmPrior::sticky}) {
    const Concentration now = prior.*which;
    if (!now.prior) continue;
    (prior.*which).value = better_value(now, [&](double value) {
      HmmPrior tried = prior;
      (tried.*which).value = value;
      return with(tried)->value_of_rows(state.total, state.globals, moments, which == &HmmPrior::start);
    });
    any |= (prior.*which).value != now.value;
  }
  return any ? with(prior) : nullptr;
}

NamedArrays HmmAlloc::learned_fields() const {
  NamedArrays out;
  add_field("alpha", prior_.alpha, out);
  add_field("start", prior_.start, out);
  add_field("sticky", prior_.sticky, out);
  return out;
}

double HmmAlloc::log_hyperprior() const {
  return log_density(prior_.alpha) + log_density(prior_.start) + log_density(prior_.sticky);
}

AllocCapabilities HmmAlloc::capabilities() const {
  AllocCapabilities out;
  out.concentrations = this;
  out.joins = this;
  out.memory = this;
  out.statistics = this;
  out.work = this;
  out.pairs = this;
  return out;
}

std::vector<MoveKind> HmmAlloc::moves() const {
  using Turn = MoveKind::Turn;
  if (has_places()) return {move_kind(Turn::idle, true, *this, make_hmm_exchange)};
  std::vector<MoveKind> out{move_kind(Turn::birth, true, *this, make_hmm_birth),
                            move_kind(Turn::merge, true, *this, make_hmm_merge),
                            move_kind(Turn::remove, true, *this, make_hmm_delete)};
  out.push_back(move_kind(Turn::idle, true, *this, make_hmm_resplit));
  return out;
}

NamedArrays HmmAlloc::posterior(const Globals& globals) const {
  const TransitionRows theta = rows(globals);
  NamedArray start{"start", Vec(theta.theta.begin(), theta.theta.begin() + theta.width), {}};
  NamedArray transition{"transition", {}, {theta.k, theta.width}};
  if (prior_.positions > 1) transition.dim.push_back(prior_.positions);
  for (Index p = 0; p < prior_.positions; ++p)
    for (Index j = 0; j < theta.width; ++j)
      for (Index i = 1; i <= theta.k; ++i) transition.value.push_back(theta.row(p * theta.k + i)[j]);
  NamedArrays out{start, transition};
  if (has_sticks()) {
    const HdpSticks q = sticks(globals);
    out.push_back({"u", q.u, {}});
    out.push_back({"omega", q.omega, {}});
  }
  if (prior_.tilt)
    for (NamedArray& of_tilt : prior_.tilt->arrays(tilts(globals), theta.k, theta.width))
      out.push_back(std::move(of_tilt));
  return out;
}

}  // namespace bnpvi::chains
