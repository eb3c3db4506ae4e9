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

}  // namespace

Beam::Beam(const ObsModel& obs, const Dataset& data, const SequenceRows& rows, Pool& pool)
    : rows_(rows), pool_(pool), likelihoods_(obs, data, rows, pool) {}

bool Beam::step(const PathPrior& prior, const TransitionCounts& counts, std::vector<int>& label,
                StateWeights& weight, StateClasses& classes, Stream& stream) {
  draw_rows(prior, counts, weight, stream);
  draw_slices(label, stream);
  StateWeights with_new = weight;
  if (!open_states(prior, with_new, stream)) return false;
  likelihoods_.draw(likelihoods_.statistics(label, k()), stream);
  draw_paths(label, classes, stream);
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

// Adds states until in every row the probability of all states not in use is below its smallest slice. Each
// row divides this probability between a new state and the rest as a Dirichlet process does, with the new
// weight and the remaining weight as masses, but only while it is above the slice. The transition row of a
// new state is drawn, over all states known by then, when some slice lets a path reach the state; states that
// no slice lets a path reach are removed in the end.
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

void Beam::draw_paths(std::vector<int>& label, StateClasses& classes, Stream& stream) {
  Vec log_rows;
  for (const Vec& row : log_rows_) log_rows.insert(log_rows.end(), row.begin(), row.end());
  const PathFilter filter(k(), log_rows);
  std::vector<int> owner, before;
  if (classes.labelled()) {
    classes.begin_with(label, k());
    for (Index j = 0; j < k(); ++j) owner.push_back(classes.draw_class(j, stream));
  }
  const auto log_draw = [&] {
    double sum = 0;
    for (Index j = 0; j < k(); ++j) sum += classes.log_draw(j);
    return sum;
  };
  for_sequences(rows_, [&](Index begin, Index end) {
    pool_.poll();
    int* own = label.data() + begin;
    const auto propose = [&] {
      filter.draw(end - begin, likelihoods_.of_rows(begin, end, owner), log_slice_.data() + begin, stream,
                  own);
    };
    if (!classes.labelled()) return propose();
    before.assign(own, label.data() + end);
    const double log_draw_before = log_draw();
    propose();
    const auto change = [&](const std::vector<int>& from, const int* to) {
      for (Index t = begin; t < end; ++t) {
        classes.add(t, from[t - begin], -1);
        classes.add(t, to[t - begin], 1);
      }
    };
    change(before, own);
    if (std::log1p(-stream.uniform()) < log_draw() - log_draw_before) return;
    change(std::vector<int>(own, label.data() + end), before.data());
    std::copy(before.begin(), before.end(), own);
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
