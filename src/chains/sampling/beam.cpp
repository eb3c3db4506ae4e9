#include "chains/sampling/beam.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chains/sampling/path_filter.h"
#include "foundation/variates.h"

namespace bnpvi::chains {

namespace {

constexpr double least_shape = 1e-300;  // of Gamma variates: β_k may be 0 for doubles
constexpr double never = -std::numeric_limits<double>::infinity();

// Calls f(begin, end) for each sequence.
template <class F>
void for_sequences(const SequenceRows& rows, F f) {
  for (Index begin = 0, end; begin < rows.size(); begin = end) {
    for (end = begin + 1; end < rows.size() && !rows.first[end];) ++end;
    f(begin, end);
  }
}

}  // namespace

Beam::Beam(const ObsModel& obs, const Dataset& data, const SequenceRows& rows, Pool& pool)
    : obs_(obs), data_(data), rows_(rows), pool_(pool), block_(obs, data) {}

bool Beam::step(const PathPrior& prior, const TransitionCounts& counts, std::vector<int>& label,
                StateWeights& weight, Stream& stream) {
  draw_rows(prior, counts, weight, stream);
  draw_slices(label, stream);
  StateWeights with_new = weight;
  if (!open_states(prior, with_new, stream)) return false;
  draw_parameters(label, stream);
  draw_paths(label, stream);
  weight = std::move(with_new);
  drop_unused(label, weight);
  return true;
}

void Beam::draw_rows(const PathPrior& prior, const TransitionCounts& counts, const StateWeights& weight,
                     Stream& stream) {
  log_rows_.assign(static_cast<std::size_t>(counts.k() + 1), {});
  log_rest_.assign(log_rows_.size(), never);
  for (Index row = 0; row <= counts.k(); ++row) draw_row(prior, weight, row, counts.of(row), stream);
}

void Beam::draw_row(const PathPrior& prior, const StateWeights& weight, Index row, const Index* count,
                    Stream& stream) {
  const Index states = static_cast<Index>(weight.size()) - 1;
  Vec shape;
  for (Index j = 0; j < states; ++j)
    shape.push_back(
        std::max(prior.mass(row, j, weight) + static_cast<double>(count ? count[j] : 0), least_shape));
  if (weight.back() > 0) shape.push_back(std::max(prior.mass(row, states, weight), least_shape));
  log_rows_[row] = draw_log_dirichlet(shape, stream);
  log_rest_[row] = never;
  if (weight.back() <= 0) return;
  log_rest_[row] = log_rows_[row].back();
  log_rows_[row].pop_back();
}

void Beam::draw_slices(const std::vector<int>& label, Stream& stream) {
  log_slice_.resize(label.size());
  least_first_ = least_later_ = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < label.size(); ++t) {
    const bool first = rows_.first[t];
    const Index row = first ? start_row : row_after(label[t - 1]);
    log_slice_[t] = log_rows_[row][label[t]] + std::log1p(-stream.uniform());
    double& least = first ? least_first_ : least_later_;
    least = std::min(least, log_slice_[t]);
  }
}

// Each row's probability of all other states is divided as a Dirichlet process divides it, of which the new
// weight and what is left of the old one are the masses; no further than where all that is left is below any
// slice. A state's own row is drawn when some slice lets a path go there, over all states that there are by
// then; those that none does are forgotten in the end.
bool Beam::open_states(const PathPrior& prior, StateWeights& weight, Stream& stream) {
  std::vector<char> known(static_cast<std::size_t>(k()), 1);
  const auto least = [&](Index row) { return row == start_row ? least_first_ : least_later_; };
  const auto any_left = [&] {
    for (Index row = 0; row <= k(); ++row)
      if (log_rest_[row] > least(row)) return true;
    return false;
  };
  const auto draw_rows_from = [&](Index first) {
    for (std::vector<Index> reached{first}; !reached.empty();) {
      const Index state = reached.back(), row = row_after(state);
      reached.pop_back();
      if (known[state]) continue;
      known[state] = 1;
      draw_row(prior, weight, row, nullptr, stream);
      for (Index j = 0; j < k(); ++j)
        if (!known[j] && log_rows_[row][j] >= least_later_) reached.push_back(j);
    }
  };
  for (Index opened = 0; weight.back() > 0 && any_left(); ++opened) {
    if (opened == most_new) return false;
    if (opened % 64 == 0) pool_.poll();
    prior.break_weight(weight, stream);
    const Index states = static_cast<Index>(weight.size()) - 1, last = states - 1;
    bool reached = false;
    for (Index row = 0; row <= last; ++row) {
      LogBeta share{never, 0};
      if (log_rest_[row] > least(row)) {
        const double own = prior.mass(row, last, weight), others = prior.mass(row, states, weight);
        share = others > 0 ? draw_log_beta(std::max(own, least_shape), std::max(others, least_shape), stream)
                           : LogBeta{0, never};
      }
      log_rows_[row].push_back(log_rest_[row] + share.log_x);
      log_rest_[row] += share.log_rest;
      reached |= log_rows_[row].back() >= least(row);
    }
    log_rows_.emplace_back(static_cast<std::size_t>(states), never);
    log_rest_.push_back(never);
    known.push_back(0);
    if (reached) draw_rows_from(last);
  }
  forget(known, weight);
  return true;
}

void Beam::forget(const std::vector<char>& known, StateWeights& weight) {
  std::vector<Vec> rows{Vec{}};
  StateWeights left;
  double rest = weight.back();
  const auto known_of = [&](const Vec& row) {
    Vec out;
    for (std::size_t j = 0; j < known.size(); ++j)
      if (known[j]) out.push_back(row[j]);
    return out;
  };
  rows[0] = known_of(log_rows_[0]);
  for (std::size_t j = 0; j < known.size(); ++j) {
    if (known[j]) {
      rows.push_back(known_of(log_rows_[j + 1]));
      left.push_back(weight[j]);
    } else {
      rest += weight[j];
    }
  }
  left.push_back(rest);
  weight = std::move(left);
  log_rows_ = std::move(rows);
}

void Beam::draw_parameters(const std::vector<int>& label, Stream& stream) {
  const Index p = obs_.n_features();
  Vec t(static_cast<std::size_t>(k() * p), 0.0);
  for (Index from = 0; from < rows_.size(); from += block_.block_rows()) {
    const Index n = std::min(block_.block_rows(), rows_.size() - from);
    block_.load(rows_.rows.data() + from, n);
    const double* phi = block_.features();
    for (Index i = 0; i < n; ++i) {
      double* own = t.data() + label[from + i] * p;
      for (Index f = 0; f < p; ++f) own[f] += phi[i * block_.ld() + f];
    }
    pool_.poll();
  }
  parameters_ = {};
  parameters_.k = k();
  parameters_.p = p;
  parameters_.w.resize(static_cast<std::size_t>(k() * p));
  for (Index j = 0; j < k(); ++j) obs_.draw(t.data() + j * p, stream, parameters_.w.data() + j * p);
  if (has_entries(obs_)) parameters_.transpose();
}

void Beam::draw_paths(std::vector<int>& label, Stream& stream) {
  Vec log_rows;
  for (const Vec& row : log_rows_) log_rows.insert(log_rows.end(), row.begin(), row.end());
  const PathFilter filter(k(), log_rows);
  Vec log_e;
  for_sequences(rows_, [&](Index begin, Index end) {
    pool_.poll();
    log_e.resize(static_cast<std::size_t>((end - begin) * k()));
    log_likelihoods(block_, parameters_, {}, rows_.rows.data() + begin, end - begin, log_e.data());
    filter.draw(end - begin, log_e.data(), log_slice_.data() + begin, stream, label.data() + begin);
  });
}

void drop_unused(std::vector<int>& label, StateWeights& weight) {
  const Index states = static_cast<Index>(weight.size()) - 1;
  std::vector<int> number(static_cast<std::size_t>(states), -1);
  for (int j : label) number[j] = 0;
  StateWeights out;
  double rest = weight.back();
  for (Index j = 0; j < states; ++j) {
    if (number[j] < 0) {
      rest += weight[j];
      continue;
    }
    number[j] = static_cast<int>(out.size());
    out.push_back(weight[j]);
  }
  out.push_back(rest);
  for (int& j : label) j = number[j];
  weight = std::move(out);
}

}  // namespace bnpvi::chains
