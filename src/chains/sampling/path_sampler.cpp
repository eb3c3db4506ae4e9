#include "chains/sampling/path_sampler.h"

#include <cmath>
#include <stdexcept>

#include "chains/sampling/beam.h"
#include "chains/sampling/path_draws.h"
#include "chains/sampling/path_split_merge.h"
#include "chains/sampling/state_likelihoods.h"
#include "sampling/labels.h"
#include "sampling/row_urns.h"

namespace bnpvi::chains {

namespace {

constexpr int most_attempts = 100;  // of drawing all rows in sequence: a guess

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
        classes_(data, rows),
        urns_(obs, features),
        beam_(obs, data, rows, pool),
        row_draws_(rows, prior_, label_, counts_, weight_, classes_, urns_, pool) {}

  // If labels leave no state for a row, the returned probability is 0, as it must be for its mean to be
  // right, and the labels are drawn again.
  double draw_in_sequence(ChainState& z, Stream& stream) override {
    prior_.set_values(z.concentration);
    double log_probability = 0;
    for (int i = 0; i < most_attempts; ++i) {
      const double log_p = draw_all_rows(stream);
      if (i == 0) log_probability = log_p;
      if (log_p > -INFINITY) {
        write(z);
        return log_probability;
      }
    }
    z.label.clear();
    z.weight.clear();
    return log_probability;
  }

 protected:
  double draw(ChainState& z, Stream& stream) override {
    read(z);
    prior_.draw(counts_, weight_, stream);
    if (has(PathStep::sequences) && beam_.step(prior_, counts_, label_, weight_, classes_, stream)) count();
    classes_.begin_with(label_, counts_.k());
    urns_.begin_with(label_);
    if (has(PathStep::splits)) split_and_merge(stream);
    if (has(PathStep::rows))
      for (Index t : shuffled(features_.n(), stream)) row_draws_.redraw(t, label_, stream);
    write(z);
    double log_joint = prior_.log_probability(counts_, weight_);
    for (Index j = 0; j < urns_.k(); ++j) log_joint += urns_.urns().log_evidence(j);
    return log_joint;
  }

  std::vector<Index> sizes() const override { return urns_.urns().counts(); }

 private:
  // Draws all rows in the order of time; the weight of a new state is broken from the rest, i.e. drawn from
  // its prior. Returns −∞ where labels leave no state for a row.
  double draw_all_rows(Stream& stream) {
    weight_ = PathPrior::no_states();
    counts_.clear();
    classes_.begin_with({}, 0);
    urns_.begin_with(nullptr, 0);
    label_.assign(static_cast<std::size_t>(features_.n()), -1);
    double log_probability = 0;
    for (Index t = 0; t < features_.n(); ++t) {
      if (!row_draws_.may_place(t)) return -INFINITY;
      const double odds_of_any = row_draws_.odds_of_any(t);
      row_draws_.place(t, label_, stream);
      log_probability += row_draws_.log_predictive(odds_of_any);
    }
    return log_probability;
  }

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

  // Sets even weights when a chain begins with labels but no weights.
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

  void count() { counts_ = count_transitions(rows_, label_, number_of_clusters(label_)); }

  void split_and_merge(Stream& stream) {
    if (features_.n() < 2) return;
    PathSplitMerge split_merge(features_, rows_, prior_, urns_.urns(), label_, counts_, weight_, classes_);
    for (Index i = 0; i < split_merge_; ++i) {
      pool_.poll();
      split_merge.propose(stream);
    }
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
  StateClasses classes_;
  RowUrns urns_;
  Beam beam_;
  PathDraws row_draws_;
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
