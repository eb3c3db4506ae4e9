#include "chains/sampling/place_sampler.h"

#include <cmath>
#include <numeric>
#include <stdexcept>

#include "chains/sampling/path_filter.h"
#include "chains/sampling/state_likelihoods.h"
#include "sampling/labels.h"
#include "sampling/row_urns.h"

namespace bnpvi::chains {

namespace {

// n × K: true where row t may be in state j, and an allowed path leads from there through the rest of its
// sequence.
std::vector<char> find_ways(const Dataset& data, const SequenceRows& rows, const PlacePrior& prior) {
  std::vector<char> out(static_cast<std::size_t>(rows.size() * prior.k));
  for (Index t = rows.size() - 1; t >= 0; --t) {
    const bool last = t + 1 == rows.size() || rows.first[t + 1];
    const char* next = out.data() + (t + 1) * prior.k;
    for (Index j = 0; j < prior.k; ++j) {
      bool way = last;
      for (Index to = 0; to < prior.k && !way; ++to) way = next[to] && prior.allows(row_after(j), to);
      out[t * prior.k + j] = way && (!data.classes || data.class_sets->allows(data.classes[rows.rows[t]],
                                                                              static_cast<int>(j) + 1));
    }
  }
  return out;
}

class PlaceSampler final : public Sampler {
 public:
  PlaceSampler(const ObsModel& obs, const Dataset& data, const RowFeatures& features,
               const SequenceRows& rows, const std::vector<char>& ways, const PlacePrior& prior, Pool& pool)
      : obs_(obs),
        rows_(rows),
        ways_(ways),
        prior_(prior),
        pool_(pool),
        urns_(obs, features),
        likelihoods_(obs, data, rows, pool) {
    if (!data.classes) return;
    owner_.resize(static_cast<std::size_t>(prior.k));
    std::iota(owner_.begin(), owner_.end(), 1);
  }

  // Draws labels sequentially only to estimate the evidence. The chain does not begin with these labels,
  // since a sequential draw hardly ever enters states that no row has entered before, but with labels drawn
  // uniformly from all allowed paths; where states are successive stages, all then have rows.
  double draw_in_sequence(ChainState& z, Stream& stream) override {
    set_concentrations(z.concentration);
    const Vec nothing(static_cast<std::size_t>(prior_.k * obs_.n_features()), 0.0);
    urns_.begin_with(nothing.data(), prior_.k);
    TransitionCounts counts;
    while (counts.k() < prior_.k) counts.open();
    z.label.resize(static_cast<std::size_t>(rows_.size()));
    Vec weight(static_cast<std::size_t>(prior_.k));
    double log_probability = 0;
    for (Index t = 0; t < rows_.size(); ++t) {
      pool_.poll();
      const Index row = rows_.first[t] ? start_row : row_after(z.label[t - 1]);
      Vec odds = prior_.predictive(row, counts);
      for (Index j = 0; j < prior_.k; ++j)
        if (!ways_[t * prior_.k + j]) odds[j] = 0;
      const double log_scale = urns_.weigh(t, odds, weight.data());
      const Index to = bnpvi::draw(weight, stream);
      if (to < 0) throw std::domain_error("a row has no probability in any state: numbers broke down");
      log_probability += log_scale + std::log(std::accumulate(weight.begin(), weight.end(), 0.0));
      counts.add(row, to, 1);
      urns_.add(to, t, 1);
      z.label[t] = static_cast<int>(to);
    }
    draw_evenly(z.label, stream);
    z.weight.clear();
    return log_probability;
  }

 protected:
  double draw(ChainState& z, Stream& stream) override {
    set_concentrations(z.concentration);
    if (number_of_clusters(z.label) > prior_.k)
      throw std::invalid_argument("a chain has more states than there may be");
    TransitionCounts counts = count(z.label);
    prior_.draw(counts, stream);
    const PathFilter filter(prior_.k, prior_.draw_rows(counts, stream));
    likelihoods_.draw(likelihoods_.statistics(z.label, prior_.k), stream);
    for_sequences(rows_, [&](Index begin, Index end) {
      pool_.poll();
      filter.draw(end - begin, likelihoods_.of_rows(begin, end, owner_), nullptr, stream,
                  z.label.data() + begin);
    });
    z.concentration = {prior_.alpha.value, prior_.start.value, prior_.sticky.value};
    z.weight.clear();
    return log_joint(z.label);
  }

  std::vector<Index> sizes() const override { return sizes_; }

 private:
  void draw_evenly(std::vector<int>& label, Stream& stream) const {
    Vec log_rows, log_e;
    for (Index row = 0; row <= prior_.k; ++row)
      for (Index j = 0; j < prior_.k; ++j) log_rows.push_back(prior_.allows(row, j) ? 0 : -INFINITY);
    const PathFilter filter(prior_.k, log_rows);
    for_sequences(rows_, [&](Index begin, Index end) {
      log_e.clear();
      for (Index i = begin * prior_.k; i < end * prior_.k; ++i) log_e.push_back(ways_[i] ? 0 : -INFINITY);
      filter.draw(end - begin, log_e.data(), nullptr, stream, label.data() + begin);
    });
  }

  void set_concentrations(const Vec& values) {
    prior_.alpha.value = values[0];
    prior_.start.value = values[1];
    prior_.sticky.value = values[2];
  }

  TransitionCounts count(const std::vector<int>& label) const {
    return count_transitions(rows_, label, prior_.k);
  }

  double log_joint(const std::vector<int>& label) {
    const Vec t = likelihoods_.statistics(label, prior_.k);
    std::vector<Index> size(static_cast<std::size_t>(prior_.k), 0);
    for (int j : label) ++size[j];
    sizes_.clear();
    double sum = prior_.log_probability(count(label));
    for (Index j = 0; j < prior_.k; ++j) {
      if (size[j] == 0) continue;
      sizes_.push_back(size[j]);
      sum += obs_.log_evidence(t.data() + j * obs_.n_features());
    }
    return sum;
  }

  const ObsModel& obs_;
  const SequenceRows& rows_;
  const std::vector<char>& ways_;
  PlacePrior prior_;
  Pool& pool_;
  RowUrns urns_;
  StateLikelihoods likelihoods_;
  std::vector<int> owner_;    // of states; empty without labels
  std::vector<Index> sizes_;  // of states with rows, at the end of draw()
};

class PlaceTarget final : public Target {
 public:
  PlaceTarget(const ObsModel& obs, const Dataset& data, const PlacePrior& prior)
      : obs_(obs),
        data_(data),
        features_(obs, data),
        rows_(all_sequences(data, obs.capabilities().lag)),
        ways_(find_ways(data, rows_, prior)),
        prior_(prior) {}

  Index n_observations() const override { return features_.n(); }
  Index most_clusters() const override { return prior_.k; }
  std::vector<std::string> concentrations() const override { return {"alpha", "start", "sticky"}; }
  std::unique_ptr<Sampler> sampler(Pool& pool) const override {
    return std::make_unique<PlaceSampler>(obs_, data_, features_, rows_, ways_, prior_, pool);
  }

 private:
  const ObsModel& obs_;
  const Dataset& data_;
  const RowFeatures features_;
  const SequenceRows rows_;
  const std::vector<char> ways_;
  const PlacePrior prior_;
};

}  // namespace

std::unique_ptr<Target> make_place_target(const ObsModel& obs, const Dataset& data, const PlacePrior& prior) {
  return std::make_unique<PlaceTarget>(obs, data, prior);
}

}  // namespace bnpvi::chains
