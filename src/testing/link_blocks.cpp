#include "testing/link_blocks.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "inference/learn/visit_batches.h"
#include "inference/moves/move.h"

namespace bnpvi::testing {

namespace {

// For one pair of blocks: the number of links, and the sum of their y.
struct Pair {
  double links, y;
};

Pair pair_of(const Summary& s, Index lj) { return {s.pair[2 * lj], s.pair[2 * lj + 1]}; }

double all_links(const Summary& s) {
  double sum = 0;
  for (Index lj = 0; lj < s.k * s.k; ++lj) sum += pair_of(s, lj).links;
  return sum;
}

// E log π_lj − E φ_lj and E log φ_lj, which are the derivatives of the ELBO by M_lj and S_lj.
Pair slope(const Summary& s, Index lj, double all) {
  const auto [links, y] = pair_of(s, lj);
  return {digamma(1 + links) - digamma(static_cast<double>(s.k * s.k) + all) - (1 + y) / (1 + links),
          digamma(1 + y) - std::log1p(links)};
}

// Sums over the links of a visit. joint(rows, first, y, q) fills q(z_1, z_2), K × K, for the link whose ends
// are rows[first] and rows[first + 1].
template <class Joint>
Summary sum_links(const Visit& in, const SummaryShape& shape, Index k, Joint joint) {
  Summary out(shape, k);
  FeatureBlock block(in.obs, in.data);
  FeatureSum sum(in.obs, in.data, k);
  const Index n = static_cast<Index>(in.units.size()), links_at_a_time = block.block_rows() / 2;
  if (in.sink) in.sink->begin(1);
  Vec q(static_cast<std::size_t>(k * k));
  std::vector<Index> rows;
  for (Index from = 0; from < n; from += links_at_a_time) {
    in.pool.poll();
    rows.clear();
    for (Index i = from; i < std::min(n, from + links_at_a_time); ++i)
      for (Index end = 0; end < 2; ++end) rows.push_back(in.data.starts[in.units[i]] + end);
    Responsibilities r;
    r.n = static_cast<Index>(rows.size());
    r.k = r.width = k;
    r.value.assign(static_cast<std::size_t>(r.n * k), 0.0);
    block.load(rows.data(), r.n);
    for (Index first = 0; first < r.n; first += 2) {
      const double* phi = block.features() + first * block.ld();
      double y = 0;
      for (Index i = 1; i < shape.p; ++i) y += phi[i];
      joint(block, rows.data(), first, y, q);
      out.scalar[1] -= log_gamma(y + 1);
      for (Index lj = 0; lj < k * k; ++lj) {
        out.pair[2 * lj] += q[lj];
        out.pair[2 * lj + 1] += q[lj] * y;
        out.entropy() -= x_log_x(q[lj]);
        r.value[first * k + lj / k] += q[lj];
        r.value[(first + 1) * k + lj % k] += q[lj];
      }
    }
    block.add_weighted(r, sum);
    if (in.sink) in.sink->visit(0, rows.data(), r, block);
  }
  sum.finish(out.edit_t(0));
  return out;
}

class Merge final : public Move {
 public:
  explicit Merge(const MoveContext& context) : c_(context) {}

  bool prepare(const State& state) override { return best(state).first >= 0; }

  void after_lap(State& state) override {
    const auto [a, b] = best(state);
    if (a < 0) return;
    ++tried_;
    State merged = state;
    change_summaries(c_.problem, merged, [a = a, b = b](auto& s) { s.merge(a, b); });
    renew_globals(c_.problem, merged);
    for (Index i = 0; i < c_.problem.source.n_batches(); ++i)
      visit_batches(c_.problem, merged, {i}, c_.visitor, c_.pool);
    refresh(c_.problem, merged);
    if (merged.elbo > state.elbo + rounding_of(state.elbo)) {
      state = std::move(merged);
      c_.memory.merge(a, b);
      ++accepted_;
    } else {
      c_.memory.merge_failed(a, b, state.total.size(a), state.total.size(b));
    }
  }

 private:
  // The best pair by the data term among those that have not failed lately; (−1, −1) if there is none.
  std::pair<Index, Index> best(const State& state) const {
    const Summary& s = state.total;
    const Vec gain = evidence_of_merging(c_.problem.obs, s, c_.pool);
    std::pair<Index, Index> out{-1, -1};
    for (Index a = 0; a < s.k; ++a)
      for (Index b = a + 1; b < s.k; ++b)
        if (c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b)) &&
            (out.first < 0 || gain[a * s.k + b] > gain[out.first * s.k + out.second]))
          out = {a, b};
    return out;
  }

  MoveContext c_;
};

}  // namespace

Summary LinkBlocks::local_step(const Visit& in) const {
  const Summary& effective = in.globals.effective;
  const Index k = effective.k;
  const double all = all_links(effective);
  std::vector<Pair> weight;
  for (Index lj = 0; lj < k * k; ++lj) weight.push_back(slope(effective, lj, all));
  Vec c;
  return sum_links(
      in, shape(in.obs), k, [&](FeatureBlock& block, const Index*, Index first, double y, Vec& q) {
        if (first == 0) {
          c.resize(static_cast<std::size_t>(block.n() * k));
          block.times(*in.weights, c.data());
        }
        for (Index lj = 0; lj < k * k; ++lj)
          q[lj] = weight[lj].links + weight[lj].y * y + c[first * k + lj / k] + c[(first + 1) * k + lj % k];
        const double most = *std::max_element(q.begin(), q.end());
        double sum = 0;
        for (double& x : q) sum += x = std::exp(x - most);
        for (double& x : q) x /= sum;
      });
}

void LinkBlocks::complete_start(Summary& start, double n_groups) const {
  const Vec n = start.sizes();
  double all = 0;
  for (double x : n) all += x;
  for (Index lj = 0; lj < start.k * start.k; ++lj)
    start.pair[2 * lj] = start.pair[2 * lj + 1] = n_groups * n[lj / start.k] / all * n[lj % start.k] / all;
}

Summary LinkBlocks::summarise(const Visit& in, const GivenResponsibilities& resp) const {
  const Index k = resp.k();
  return sum_links(in, shape(in.obs), k, [&](FeatureBlock&, const Index* rows, Index first, double, Vec& q) {
    for (Index lj = 0; lj < k * k; ++lj) q[lj] = resp(rows[first], lj / k) * resp(rows[first + 1], lj % k);
  });
}

Globals LinkBlocks::stochastic_step(const Globals& from, const Summary& noisy, double rate) const {
  Summary effective = from.effective;
  effective.scale(1 - rate);
  effective.add(noisy, rate);
  return {std::move(effective), {}, {}};
}

Terms LinkBlocks::elbo_terms(const Summary& total, const Globals& globals) const {
  const Summary& effective = globals.effective;
  const double all = all_links(effective);
  double value = log_gamma_difference(static_cast<double>(total.k * total.k), all);
  for (Index lj = 0; lj < total.k * total.k; ++lj) {
    const auto [links, y] = pair_of(effective, lj);
    const Pair now = pair_of(total, lj), w = slope(effective, lj, all);
    value += log_gamma(1 + links) + log_gamma(1 + y) - (1 + y) * std::log1p(links) +
             (now.links - links) * w.links + (now.y - y) * w.y;
  }
  return {{"pairs", value + total.scalar[1]}, {"entropy", total.entropy()}};
}

Vec LinkBlocks::mean_weights(const Globals& globals) const {
  const Summary& s = globals.effective;
  Vec out(static_cast<std::size_t>(s.k), 0.0);
  const double all = static_cast<double>(s.k * s.k) + all_links(s);
  for (Index lj = 0; lj < s.k * s.k; ++lj) out[lj / s.k] += (1 + pair_of(s, lj).links) / all;
  return out;
}

std::vector<MoveKind> LinkBlocks::moves() const {
  return {{MoveKind::Turn::merge, false, [](const MoveContext& c) { return std::make_unique<Merge>(c); }}};
}

}  // namespace bnpvi::testing
