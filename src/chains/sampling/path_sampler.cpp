#include "chains/sampling/path_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "chains/sampling/beam.h"
#include "chains/sampling/path_split_merge.h"
#include "kernels/kernels.h"
#include "sampling/labels.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi::chains {

namespace {

constexpr Index rows_between_polls = 4096;  // some milliseconds: a guess

SequenceRows all_sequences(const Dataset& data, Index lag) {
  SequenceRows out;
  for (Index g = 0; g < data.n_groups(); ++g) out.append(data, g, lag);
  return out;
}

class PathSampler final : public Sampler {
 public:
  PathSampler(const ObsModel& obs, const Dataset& data, const RowFeatures& features, const SequenceRows& rows,
              const PathPrior& prior, Index split_merge, PathStep step, Pool& pool)
      : features_(features),
        rows_(rows),
        prior_(prior),
        split_merge_(split_merge),
        step_(step),
        pool_(pool),
        urns_(obs),
        beam_(obs, data, rows, pool),
        phi_(static_cast<std::size_t>(features.p())) {}

  Vec sweep(ChainState& z, std::uint64_t seed, std::uint64_t chain) override {
    Stream stream(seed, Purpose::sampler, chain, static_cast<std::uint64_t>(z.sweeps));
    read(z);
    prior_.draw(counts_, weight_, stream);
    if (has(PathStep::sequences) && beam_.step(prior_, counts_, label_, weight_, stream)) count();
    gather();
    if (has(PathStep::splits)) split_and_merge(stream);
    if (has(PathStep::rows)) draw_rows(stream);
    write(z);
    ++z.sweeps;
    return record();
  }

  // In the order of time; a new state breaks its weight from the rest, so that it is drawn from its prior.
  double draw_in_sequence(ChainState& z, Stream& stream) override {
    prior_.set_values(z.concentration);
    weight_ = PathPrior::no_states();
    counts_.clear();
    urns_.clear();
    label_.assign(static_cast<std::size_t>(features_.n()), -1);
    double log_probability = 0;
    for (Index t = 0; t < features_.n(); ++t) {
      const double* phi = features_.of(t, phi_.data());
      const Index row = row_into(t);
      const Index j = draw_state(row, -1, phi, stream);
      const double total = std::accumulate(odds_.begin(), odds_.end(), 0.0);
      log_probability += top_ + std::log(total / (prior_.mass(row) + static_cast<double>(counts_.sum(row))));
      enter(t, j, phi, stream);
    }
    write(z);
    return log_probability;
  }

 private:
  bool has(PathStep step) const { return step_ == PathStep::all || step_ == step; }

  void read(const ChainState& z) {
    prior_.set_values(z.concentration);
    label_ = z.label;
    weight_ = z.weight;
    if (weight_.empty()) even_weights();
    count();
    if (static_cast<Index>(weight_.size()) != counts_.k() + 1)
      throw std::invalid_argument("internal error: a chain has not a weight for each state");
  }

  // Where a chain begins with states only.
  void even_weights() {
    weight_ = PathPrior::no_states();
    const Index states = number_of_clusters(label_);
    if (prior_.open_ended()) {
      weight_.assign(static_cast<std::size_t>(states + 1), 1 / static_cast<double>(states + 1));
      return;
    }
    const double all = static_cast<double>(prior_.most_states);
    if (states > prior_.most_states) throw std::invalid_argument("a chain has more states than there may be");
    weight_.assign(static_cast<std::size_t>(states), 1 / all);
    weight_.push_back((all - static_cast<double>(states)) / all);
  }

  void write(ChainState& z) const {
    z.label = label_;
    z.weight = weight_;
    z.concentration = prior_.values();
  }

  Index row_into(Index t) const { return rows_.first[t] ? start_row : row_after(label_[t - 1]); }
  // The state of the next row of the sequence; −1 in the last.
  Index state_after(Index t) const {
    return t + 1 < features_.n() && !rows_.first[t + 1] ? label_[t + 1] : -1;
  }

  void count() { counts_ = count_transitions(rows_, label_, number_of_clusters(label_)); }

  void gather() {
    urns_.clear();
    if (counts_.k() > 0) urns_.open(counts_.k() - 1);
    for (Index t = 0; t < features_.n(); ++t) urns_.gather(label_[t], features_.of(t, phi_.data()));
    urns_.fill();
  }

  void split_and_merge(Stream& stream) {
    if (features_.n() < 2) return;
    PathSplitMerge split_merge(features_, rows_, prior_, urns_, label_, counts_, weight_);
    for (Index i = 0; i < split_merge_; ++i) {
      pool_.poll();
      split_merge.propose(stream);
    }
  }

  void draw_rows(Stream& stream) {
    const std::vector<Index> order = shuffled(features_.n(), stream);
    for (std::size_t at = 0; at < order.size(); ++at) {
      if (at % rows_between_polls == 0) pool_.poll();
      const Index t = order[at], from = label_[t];
      const double* phi = features_.of(t, phi_.data());
      const bool emptied = leave(t, phi);
      const Index to = draw_state(row_into(t), state_after(t), phi, stream);
      if (to == from && !emptied) {
        urns_.put_back();
        join(t, to);
      } else {
        enter(t, to, phi, stream);
      }
    }
  }

  // Takes row t out of its state; true when that is gone with it.
  bool leave(Index t, const double* phi) {
    const Index from = label_[t], after = state_after(t);
    counts_.add(row_into(t), from, -1);
    if (after >= 0) counts_.add(row_after(from), after, -1);
    if (!urns_.remove(from, phi)) return false;
    const Index last = urns_.k() - 1;
    urns_.drop(from);
    counts_.drop(from);
    PathPrior::return_weight(weight_, from);
    if (from != last)
      std::replace(label_.begin(), label_.end(), static_cast<int>(last), static_cast<int>(from));
    return true;
  }

  void enter(Index t, Index to, const double* phi, Stream& stream) {
    if (to == counts_.k()) {
      prior_.break_weight(weight_, stream);
      counts_.open();
    }
    urns_.add(to, phi);
    join(t, to);
  }

  void join(Index t, Index to) {
    const Index after = state_after(t);
    label_[t] = static_cast<int>(to);
    counts_.add(row_into(t), to, 1);
    if (after >= 0) counts_.add(row_after(to), after, 1);
  }

  // A state for a row with these features, K for a new one, given the transition row into it and the state of
  // the next row (−1: none); probabilities are proportional to odds_ e^top_.
  Index draw_state(Index row, Index after, const double* phi, Stream& stream) {
    const Index k = counts_.k(), n = weight_.back() > 0 ? k + 1 : k;
    predictive_.resize(static_cast<std::size_t>(n));
    odds_.resize(predictive_.size());
    urns_.predictives(phi, n, predictive_.data());
    kernels().exp_rows(1, n, predictive_.data(), n, odds_.data(), n, &top_);
    for (Index j = 0; j < n; ++j) {
      odds_[j] *= prior_.mass(row, j, weight_) + (j < k ? static_cast<double>(counts_(row, j)) : 0);
      if (after < 0) continue;
      // The step into j is one more from row j where the row before is in j, too.
      const double from_j = row == row_after(j) ? 1 : 0;
      double into = prior_.mass(row_after(j), after, weight_), all = prior_.mass(row_after(j)) + from_j;
      if (j < k) {
        into += static_cast<double>(counts_(row_after(j), after)) + (after == j ? from_j : 0);
        all += static_cast<double>(counts_.sum(row_after(j)));
      }
      odds_[j] *= into / all;
    }
    const Index j = bnpvi::draw(odds_, stream);
    if (j < 0) throw std::domain_error("a row has no probability in any state: numbers broke down");
    return j;
  }

  Vec record() const {
    const Sizes sizes(urns_.counts());
    double log_joint = prior_.log_probability(counts_, weight_);
    for (Index j = 0; j < urns_.k(); ++j) log_joint += urns_.log_evidence(j);
    Vec out{static_cast<double>(counts_.k())};
    for (double value : prior_.values()) out.push_back(value);
    for (double value : {log_joint, sizes.largest, sizes.entropy}) out.push_back(value);
    return out;
  }

  const RowFeatures& features_;
  const SequenceRows& rows_;
  PathPrior prior_;
  Index split_merge_;
  PathStep step_;
  Pool& pool_;
  std::vector<int> label_;
  StateWeights weight_;
  TransitionCounts counts_;
  Urns urns_;
  Beam beam_;
  Vec phi_, predictive_, odds_;
  double top_ = 0;
};

class PathTarget final : public Target {
 public:
  PathTarget(const ObsModel& obs, const Dataset& data, const PathPrior& prior, Index split_merge,
             PathStep step)
      : obs_(obs),
        data_(data),
        features_(obs, data),
        rows_(all_sequences(data, obs.capabilities().lag)),
        prior_(prior),
        split_merge_(split_merge),
        step_(step) {}

  Index n_observations() const override { return features_.n(); }
  std::vector<std::string> concentrations() const override { return prior_.names(); }
  std::unique_ptr<Sampler> sampler(Pool& pool) const override {
    return std::make_unique<PathSampler>(obs_, data_, features_, rows_, prior_, split_merge_, step_, pool);
  }

 private:
  const ObsModel& obs_;
  const Dataset& data_;
  const RowFeatures features_;
  const SequenceRows rows_;
  const PathPrior prior_;
  const Index split_merge_;
  const PathStep step_;
};

}  // namespace

std::unique_ptr<Target> make_path_target(const ObsModel& obs, const Dataset& data, const PathPrior& prior,
                                         Index split_merge, PathStep step) {
  return std::make_unique<PathTarget>(obs, data, prior, split_merge, step);
}

}  // namespace bnpvi::chains
