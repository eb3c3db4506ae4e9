#include "mixtures/restricted_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "foundation/chunks.h"
#include "foundation/special.h"
#include "inference/start/seeding.h"

namespace bnpvi::mixtures {

namespace {

// Size of the sample. For the letters data (64 columns, 2,081 features), one cluster yields 12 with 2^11
// rows and 21 with four rows for each feature.
constexpr Index min_sample = Index{1} << 11;
constexpr Index rows_a_feature = 4;
// Measured (inst/design/decisions.md).
constexpr double least_sharpness = 5, most_sharpness = 20;
// The rest are guesses.
constexpr double least_shared = 1e-6;  // share of a row above which it counts in comparisons of clusters
constexpr int max_cycles = 10;         // of local steps and merges
constexpr int sharp_rounds = 5;        // of local steps
constexpr double unevenness = 0.2;     // range of the shares at the start of halve()
constexpr int steps_between = 2;       // forecasts for halves
constexpr Index least_foreseen = Index{1}
                                 << 15;       // features of the sample from which they cost less than steps
constexpr Index max_loaded = Index{1} << 22;  // features of the sample that are kept in memory between rounds

// The place of each entry of an order.
std::vector<Index> places_of(const std::vector<Index>& order) {
  std::vector<Index> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<Index>(i);
  return place;
}

}  // namespace

// Guesses. Halves start nearly even and need more steps to separate.
const RestrictedFit::Limits RestrictedFit::developing{5, 0.005}, RestrictedFit::reseeding{30, 0.001},
    RestrictedFit::halving{40, 0.005};

RestrictedFit::RestrictedFit(const Problem& problem, const MixtureAlloc& alloc, Pool& pool,
                             const State& state, const Target& target,
                             const std::vector<MassOnRows>& by_batch, Stream& stream)
    : problem_(problem), alloc_(alloc), pool_(pool), p_(state.total.shape.p) {
  const bool learns = prior_of(problem.obs).has_occupied_term();
  for (Index j = 0; j < state.k(); ++j) {
    if (std::find(target.begin(), target.end(), j) != target.end()) continue;
    alloc.append_counts(state.total.t(j), p_, others_);
    if (learns) others_t_.insert(others_t_.end(), state.total.t(j), state.total.t(j) + p_);
  }
  base_.assign(static_cast<std::size_t>(p_), 0.0);
  std::vector<std::unique_ptr<StatisticWork>> work;
  for (std::size_t b = 0; b < by_batch.size(); ++b)
    if (!by_batch[b].all || state.batch[b]->settled)
      work.push_back(std::make_unique<StatisticWork>(static_cast<Index>(b), by_batch[b]));
  do_work(problem, pool, work, Sharing::batches);
  for (const auto& done : work)
    for (Index i = 0; i < p_; ++i) {
      for (Index j : target) base_[i] += state.batch[static_cast<std::size_t>(done->batch)]->t(j)[i];
      base_[i] -= done->t[i];
    }
  Vec whole(static_cast<std::size_t>(p_));
  for (Index j : target)
    for (Index i = 0; i < p_; ++i) whole[i] += state.total.t(j)[i];
  expected_ = expecting_weights(problem.obs, whole.data());
  copy_ = take_sample(problem, by_batch, std::max(min_sample, rows_a_feature * p_), stream, sample_);
  load_sample();
}

Vec RestrictedFit::sum_of_sample(const Vec& mass) const {
  FeatureBlock block(problem_.obs, copy_.data);
  const Index n = static_cast<Index>(sample_.rows.size());
  Vec t(static_cast<std::size_t>(p_), 0.0);
  for (Index from = 0; from < n; from += block.block_rows()) {
    pool_.poll();
    block.load(sample_.rows.data() + from, std::min(block.block_rows(), n - from));
    block.add_weighted(mass.data() + from, t.data(), data_or_null(expected_));
  }
  return t;
}

void RestrictedFit::load_sample() {
  const Index n = static_cast<Index>(sample_.rows.size()), n_chunks = count_chunks(n);
  if (n * p_ > max_loaded) return;
  loaded_.resize(static_cast<std::size_t>(n_chunks));
  pool_.run(n_chunks, [&](Index chunk) {
    const Index end = chunk_end(n, n_chunks, chunk);
    for (Index from = chunk_begin(n, n_chunks, chunk); from < end;
         from += loaded_[chunk].back().block_rows()) {
      loaded_[chunk].emplace_back(problem_.obs, copy_.data);
      FeatureBlock& block = loaded_[chunk].back();
      block.load(sample_.rows.data() + from, std::min(block.block_rows(), end - from));
    }
  });
}

bool RestrictedFit::seed(Index k, bool base_of_its_own, Stream& stream, bool may_collapse) {
  const double sharpness = draw_sharpness(least_sharpness, most_sharpness, stream);
  const HardClusters hard = bregman_kmeans(problem_.obs, copy_.data, sample_.rows, sample_.mass.data(), k,
                                           true, 5, stream, pool_, data_or_null(expected_), sharpness);
  k_ = hard.k;
  share_.clear();
  if (k_ < 2) return false;
  place_base(hard.t, hard.k, base_of_its_own);
  if (may_collapse && collapses()) return false;
  for (int round = 0; round < sharp_rounds; ++round) local_step(sharpness);
  return true;
}

// If the prior is searched for the clusters, their value is known only after that.
bool RestrictedFit::foresees(std::optional<PriorSteps> steps) const {
  const bool searches = steps == PriorSteps::search && !has_learned_;
  return forecasts_ && !(searches && prior_of(problem_.obs).has_occupied_term());
}

void RestrictedFit::develop(Index k, std::optional<PriorSteps> steps, Stream& stream) {
  if (!seed(k, true, stream, foresees(steps))) return;
  iterate(developing);
  learn_prior(steps);
  prune();
}

void RestrictedFit::reseed(Index k, Stream& stream) {
  if (seed(k, false, stream, false)) iterate(reseeding), drop_small();
}

void RestrictedFit::halve(std::optional<PriorSteps> steps, Stream& stream) {
  k_ = 2;
  share_.clear();
  Vec mass(sample_.mass);
  for (double& m : mass) {
    const double half = 0.5 + unevenness * (stream.uniform() - 0.5);
    share_.push_back(half);
    share_.push_back(1 - half);
    m *= half;
  }
  const Vec all = sum_of_sample(sample_.mass);
  Vec t = sum_of_sample(mass);
  for (Index i = 0; i < p_; ++i) t.push_back(all[i] - t[i]);
  place_base(t, 2, true);
  if (k_ > 2) share_.clear();
  const bool pays = static_cast<Index>(sample_.rows.size()) * p_ >= least_foreseen;
  iterate(halving, pays && foresees(steps));
  learn_prior(steps);
  prune();
}

void RestrictedFit::learn_prior(std::optional<PriorSteps> steps) {
  const LearnedPrior& prior = prior_of(problem_.obs);
  if (!steps || !prior.has_occupied_term() || std::exchange(has_learned_, true)) return;
  Vec t = others_t_;
  t.insert(t.end(), current_.begin(), current_.end());
  const Index k = static_cast<Index>(others_.size()) / alloc_.count_width() + k_;
  if (auto obs = prior.learned(t.data(), k, *steps, &pool_)) problem_.obs.replace(std::move(obs));
}

void RestrictedFit::prune() {
  for (int cycle = 0; cycle < max_cycles; ++cycle) {
    const bool fewer = drop_small();
    const bool merged = merge_pairs();
    if (k_ < 2 || !(fewer || merged)) return;
    iterate(developing);
  }
}

void RestrictedFit::iterate(const Limits& limits, bool may_end_as_one) {
  PartingHalves halves;
  for (int round = 0; round < limits.rounds; ++round) {
    const Vec before = share_;
    local_step();
    if (may_end_as_one && k_ == 2 && round % steps_between == 1 &&
        halves.fall_short(gain_of_joining_all() + pair_entropy(0, 1),
                          (limits.rounds - 1 - round) / steps_between)) {
      foresaw_ = true;
      return join(0, 1);
    }
    if (before.size() != share_.size()) continue;
    double moved = 0, all = 0;
    for (std::size_t n = 0; n < sample_.rows.size(); ++n) {
      double change = 0;
      for (Index j = 0; j < k_; ++j) change += std::abs(share_[n * k_ + j] - before[n * k_ + j]);
      moved += sample_.mass[n] * change / 2;
      all += sample_.mass[n];
    }
    if (moved < limits.least_moved * all) return;
  }
}

void RestrictedFit::place_base(const Vec& t, Index k, bool of_its_own) {
  current_.clear();
  if (of_its_own && base_[0] >= 1 && alloc_.fixed_k() == 0) {
    current_.insert(current_.end(), base_.begin(), base_.end());
    current_.insert(current_.end(), t.begin(), t.end());
    k_ = k + 1;
    return;
  }
  Index best = 0;
  double best_gain = -INFINITY;
  for (Index j = 0; j < k; ++j) {
    Vec with(t.begin() + j * p_, t.begin() + (j + 1) * p_);
    const double alone = problem_.obs->log_evidence(with.data());
    for (Index i = 0; i < p_; ++i) with[i] += base_[i];
    const double gain = problem_.obs->log_evidence(with.data()) - alone;
    if (gain > best_gain) best = j, best_gain = gain;
  }
  current_ = t;
  std::swap_ranges(current_.begin(), current_.begin() + p_, current_.begin() + best * p_);
  k_ = k;
}

RestrictedStep RestrictedFit::step() const { return {k_, current_, log_weights(), alloc_.width() > 0}; }

void RestrictedFit::local_step(double sharpness) {
  RestrictedStep now = step();
  now.t = sharpened(std::move(now.t), sharpness);
  current_ = now.on(problem_.obs, copy_.data, sample_, pool_, &share_, &loaded_).arrived;
  for (Index i = 0; i < p_; ++i) current_[i] += base_[i];
}

// E log π of this fit's clusters with all clusters ordered by size, as they will be after reordering.
Vec RestrictedFit::log_weights() const {
  Vec counts = all_counts();
  const Index width = alloc_.count_width(), n = static_cast<Index>(counts.size()) / width;
  const std::vector<Index> order = by_size(counts);
  for (double& count : counts) count = std::max(0.0, count);
  Vec near;
  if (static_cast<Index>(near_.size()) == alloc_.numbers_in_u(n)) near = alloc_.search_in_order(near_, order);
  const Vec value = alloc_.expected_log_weights(rows_in_order(counts, order), &near);
  const std::vector<Index> place = places_of(order);
  near_ = alloc_.search_in_order(near, place);
  const Vec by_number = rows_in_order(value, place);
  return {by_number.end() - k_ * width, by_number.end()};
}

Vec RestrictedFit::all_counts() const {
  Vec out = others_;
  for (Index j = 0; j < k_; ++j) alloc_.append_counts(current_.data() + j * p_, p_, out);
  return out;
}

std::vector<Index> RestrictedFit::by_size(const Vec& counts) const {
  const Index width = alloc_.count_width();
  std::vector<Index> order(counts.size() / static_cast<std::size_t>(width));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return counts[a * width] > counts[b * width]; });
  return order;
}

double RestrictedFit::allocation_value(const Vec& counts, Vec& near, double least) const {
  const std::vector<Index> order = by_size(counts);
  Vec search = alloc_.search_in_order(near, order);
  const double value = mixtures::allocation_value(alloc_, rows_in_order(counts, order), &search, least);
  near = alloc_.search_in_order(search, places_of(order));
  return value;
}

double RestrictedFit::pair_entropy(Index a, Index b) const {
  double sum = 0;
  for (std::size_t n = 0; n < sample_.rows.size(); ++n) {
    const double pa = share_[n * k_ + a], pb = share_[n * k_ + b];
    if (pa > least_shared && pb > least_shared)
      sum += sample_.mass[n] * (x_log_x(pa) + x_log_x(pb) - x_log_x(pa + pb));
  }
  return sum;
}

Vec RestrictedFit::joined_search(const Vec& near, const Vec& counts, Index a, Index b) const {
  if (near.empty() || alloc_.fixed_k() > 0) return near;
  std::vector<Index> order = by_size(counts);
  const std::vector<Index> place = places_of(order);
  const Index first = std::min(place[a], place[b]), last = std::max(place[a], place[b]);
  const Vec joined = alloc_.joined_search(alloc_.search_in_order(near, order), first, last);
  order[first] = a;
  order.erase(order.begin() + last);
  for (Index& j : order) j -= j > b;
  return alloc_.search_in_order(joined, places_of(order));
}

void RestrictedFit::join(Index a, Index b) {
  const Vec counts = all_counts();
  const Index all = static_cast<Index>(counts.size()) / alloc_.count_width(), first = all - k_;
  if (static_cast<Index>(near_.size()) == alloc_.numbers_in_u(all))
    near_ = joined_search(near_, counts, first + a, first + b);
  for (Index i = 0; i < p_; ++i) current_[a * p_ + i] += current_[b * p_ + i];
  current_.erase(current_.begin() + b * p_, current_.begin() + (b + 1) * p_);
  Vec share;
  if (!share_.empty()) share.reserve(sample_.rows.size() * static_cast<std::size_t>(k_ - 1));
  for (std::size_t n = 0; n < sample_.rows.size() && !share_.empty(); ++n)
    for (Index j = 0; j < k_; ++j) {
      if (j == b) continue;
      share.push_back(share_[n * k_ + j] + (j == a ? share_[n * k_ + b] : 0));
    }
  share_.swap(share);
  --k_;
}

// Clusters of less than one observation join the largest one.
bool RestrictedFit::drop_small() {
  bool any = false;
  for (Index j = k_ - 1; j >= 0 && k_ > 1; --j) {
    if (current_[j * p_] >= 1) continue;
    Index largest = j == 0 ? 1 : 0;
    for (Index l = 0; l < k_; ++l)
      if (l != j && current_[l * p_] > current_[largest * p_]) largest = l;
    join(std::min(j, largest), std::max(j, largest));
    any = true;
  }
  return any;
}

bool RestrictedFit::merge_pairs() {
  bool any = false;
  while (k_ > 1) {
    pool_.poll();
    std::vector<Pair> pairs = bounded_pairs();
    Pair best;
    for (Pair& pair : pairs) {
      if (pair.gain <= best.gain) break;
      pair.gain += pair_entropy(pair.a, pair.b);
      if (pair.gain > best.gain) best = pair;
    }
    if (best.gain <= 0) break;
    join(best.a, best.b);
    any = true;
  }
  return any;
}

}  // namespace bnpvi::mixtures
