#include "mixtures/delete_forecast.h"

#include <algorithm>
#include <numeric>

#include "foundation/special.h"
#include "inference/data/evidence.h"
#include "mixtures/known_labels.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index max_sample = Index{1} << 9;  // number of rows; this and the next two are guesses
constexpr int rounds = 4;
constexpr double least_mass = 0.01;

struct Chosen {
  std::vector<Place> rows;
  Vec weight;  // of each row, before scaling up to all rows
  Vec own;     // responsibility of the target for each row
  Vec others;  // responsibilities of the other clusters, rows x (K - 1)
};

Chosen choose_rows(const std::vector<TouchedRows>& by_batch, Index target, Index k) {
  std::vector<Vec> own;  // responsibility of the target, by batch and row
  Index all = 0;
  for (const TouchedRows& t : by_batch) {
    Vec& mine = own.emplace_back();
    for (Index i = 0; i < t.size(); ++i) mine.push_back(t.get(i, target));
    all += std::count_if(mine.begin(), mine.end(), [](double r) { return r >= least_mass; });
  }
  const Index every = 1 + (all - 1) / max_sample;
  Chosen s;
  Index seen = 0;
  for (std::size_t b = 0; b < by_batch.size(); ++b) {
    const TouchedRows& t = by_batch[b];
    for (Index i = 0; i < t.size(); ++i) {
      const double mass = own[b][static_cast<std::size_t>(i)];
      if (mass < least_mass || seen++ % every != 0) continue;
      s.rows.push_back({static_cast<Index>(b), t.rows[i]});
      s.weight.push_back(t.weight[i]);
      s.own.push_back(mass);
      s.others.resize(s.others.size() + static_cast<std::size_t>(k - 1), 0.0);
      double* row = s.others.data() + s.others.size() - (k - 1);
      for (Index e = t.offset[i]; e < t.offset[i + 1]; ++e)
        if (t.cluster[e] != target) row[t.cluster[e] - (t.cluster[e] > target)] = t.value[e];
    }
  }
  return s;
}

// The clusters among which rows are divided: at first all, after a round those that received any mass, as the
// others, which stay as they are, receive none in the next round either.
class Receivers {
 public:
  explicit Receivers(Index k) : clusters_(static_cast<std::size_t>(k)) {
    std::iota(clusters_.begin(), clusters_.end(), Index{0});
  }

  Index size() const { return static_cast<Index>(clusters_.size()); }
  Index cluster(Index l) const { return clusters_[static_cast<std::size_t>(l)]; }

  // Their parts of a list that has `width` numbers for every cluster, or is empty.
  template <class List>
  List of(const List& all, Index width) const {
    List out;
    for (Index j : clusters_)
      if (!all.empty()) out.insert(out.end(), all.begin() + j * width, all.begin() + (j + 1) * width);
    return out;
  }
  // The inverse of of().
  void put(const Vec& mine, Index width, Vec& all) const {
    for (Index l = 0; l < size(); ++l)
      std::copy_n(mine.begin() + l * width, width, all.begin() + cluster(l) * width);
  }
  // Leaves out the clusters for which both lists have the same `width` numbers.
  void keep_changed(const Vec& before, const Vec& after, Index width) {
    const auto same = [&](Index j) {
      return std::equal(before.begin() + j * width, before.begin() + (j + 1) * width,
                        after.begin() + j * width);
    };
    clusters_.erase(std::remove_if(clusters_.begin(), clusters_.end(), same), clusters_.end());
  }

 private:
  std::vector<Index> clusters_;
};

}  // namespace

DeletionForecast forecast_deletion(const Problem& problem, const MixtureAlloc& alloc, const State& state,
                                   Index target, const std::vector<TouchedRows>& by_batch, Pool& pool) {
  const Summary& total = state.total;
  const Index k = total.k - 1, p = total.shape.p;
  const Chosen sample = choose_rows(by_batch, target, total.k);
  const Index n = static_cast<Index>(sample.rows.size());
  if (n == 0) return {0, 0};
  Vec mass(sample.own);
  for (Index i = 0; i < n; ++i) mass[i] *= sample.weight[i];
  const double scale = total.size(target) / std::accumulate(mass.begin(), mass.end(), 0.0);
  for (double& m : mass) m *= scale;

  const Vec expected = expecting_weights(problem.obs, total.t(target));
  Summary rest = total;
  rest.drop(target);
  const Vec before(rest.obs.begin(), rest.obs.end());
  Vec with = before, gone(static_cast<std::size_t>(p));
  Receivers to(k);
  Vec near;
  double entropy = 0, products = 0;
  const Sample copy = take_rows(problem.source, sample.rows, problem.obs->capabilities().lag);
  FeatureBlock block(problem.obs, copy.data);
  const Index stored = copy.data.sparse() ? static_cast<Index>(copy.data.row_start[n]) : 0;
  for (int round = 0; round < rounds; ++round) {
    pool.poll();
    const Index m = to.size();
    products += cost_of_rows(problem.obs, copy.data, n, stored, m);
    Weights weights =
        make_weights(problem.obs, to.of(with, p).data(), m, nullptr, nullptr, true, to.of(rest.names.of, 1));
    Vec counts;
    for (Index j = 0; j < k; ++j) alloc.append_counts(with.data() + j * p, p, counts);
    add_log_weights(weights, to.of(alloc.expected_log_weights(counts, &near), alloc.count_width()));
    weights.pack(problem.obs, copy.data);
    FeatureSum sum(problem.obs, copy.data, m);
    sum.expect_under(weights);
    std::fill(gone.begin(), gone.end(), 0.0);
    entropy = 0;
    Vec w;
    Responsibilities r;
    for (Index from = 0; from < n; from += block.block_rows()) {
      const Index size = std::min(block.block_rows(), n - from);
      block.load(copy.rows.data() + from, size);
      w.resize(static_cast<std::size_t>(size * m));
      block.times(weights, w.data());
      exclude_forbidden(block, 0, size, rest.owner, w.data());
      double unused = 0;
      normalise(size, m, w, 0, r, unused);
      for (Index i = 0; i < size; ++i) {
        const double own = sample.own[from + i], weight = sample.weight[from + i];
        entropy += weight * x_log_x(own);
        for (Index l = 0; l < m; ++l) {
          double& share = r.value[i * m + l];
          const double other = sample.others[(from + i) * k + to.cluster(l)], both = other + own * share;
          if (both != other) entropy += weight * (x_log_x(other) - x_log_x(both));
          share *= mass[from + i];
        }
      }
      block.add_weighted(r, sum);
      block.add_weighted(mass.data() + from, gone.data(), data_or_null(expected));
    }
    Vec received = to.of(before, p);
    sum.finish(received.data());
    to.put(received, p, with);
    if (rest.owner.empty()) to.keep_changed(before, with, p);
  }

  double gain = scale * entropy - used_evidence(problem.obs, gone.data());
  for (Index l = 0; l < to.size(); ++l) {
    const Index j = to.cluster(l);
    gain += used_evidence(under_name(problem.obs, rest.names.of_cluster(j)), with.data() + j * p) -
            used_evidence(problem.obs, rest, j);
  }
  Vec counts;
  for (Index j = 0; j < k; ++j) alloc.append_counts(with.data() + j * p, p, counts);
  if (alloc.fixed_k() > 0) counts.resize(counts.size() + static_cast<std::size_t>(alloc.count_width()), 0.0);
  gain += allocation_value(alloc, counts) - allocation_value(alloc, alloc.counts(total));
  return {gain, products};
}

}  // namespace bnpvi::mixtures
