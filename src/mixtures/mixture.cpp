#include "mixtures/mixture.h"

#include <algorithm>
#include <optional>

#include "foundation/chunks.h"
#include "foundation/special.h"
#include "mixtures/known_labels.h"
#include "mixtures/moves.h"

namespace bnpvi::mixtures {

SummaryShape MixtureAlloc::shape(const ObsModel& obs) const { return {obs.n_features(), 0, 0, 1}; }

Globals MixtureAlloc::global_step(const Summary& total, const Globals&) const { return {total, {}, {}}; }

Globals MixtureAlloc::stochastic_step(const Globals& from, const Summary& noisy, double rate) const {
  Globals out = from;
  out.weights = nullptr;
  out.effective.scale(1 - rate);
  out.effective.add(noisy, rate);
  return out;
}

namespace {

// Returns Σ −w r log r of the loaded rows, and replaces r by w r and the entropies of rows by weighted ones.
double weigh(const FeatureBlock& block, Responsibilities& r) {
  double entropy = 0;
  for (Index i = 0; i < r.n; ++i) {
    const double weight = block.weight(i);
    entropy += weight * r.row_entropy[i];
    for (Index l = 0; l < r.width; ++l) r.value[i * r.width + l] *= weight;
  }
  return entropy;
}

// Sums w φ and the weighted entropy over the units, chunk by chunk. For each chunk, make_fill() returns a
// function (from, block, r, entropy) that computes responsibilities and entropies of the units from,
// from + 1, ..., whose rows are loaded in the block.
template <class MakeFill>
Summary sum_units(const Visit& in, Index k, bool few, const SummaryShape& shape, MakeFill make_fill) {
  const Index n = static_cast<Index>(in.units.size()), n_chunks = count_chunks(n, k * shape.p);
  if (in.sink) in.sink->begin(n_chunks);
  std::vector<std::optional<FeatureSum>> sums(static_cast<std::size_t>(n_chunks));
  Vec entropy(static_cast<std::size_t>(n_chunks), 0.0);
  in.pool.run(n_chunks, [&](Index chunk) {
    FeatureBlock block(in.obs, in.data);
    FeatureSum& sum = sums[chunk].emplace(in.obs, in.data, k, few);
    if (in.weights && !in.weights->w.empty()) sum.expect_under(*in.weights);
    Responsibilities r;
    auto fill = make_fill();
    const Index end = chunk_end(n, n_chunks, chunk);
    for (Index from = chunk_begin(n, n_chunks, chunk); from < end; from += block.block_rows()) {
      in.pool.poll();
      const Index* rows = in.units.data() + from;
      block.load(rows, std::min(block.block_rows(), end - from));
      const double before = entropy[chunk];
      fill(from, block, r, entropy[chunk]);
      if (in.sink) in.sink->visit(chunk, rows, r, block);
      if (block.weighted()) entropy[chunk] = before + weigh(block, r);
      block.add_weighted(r, sum);
    }
  });
  Summary out(shape, k, false);
  std::vector<const FeatureSum*> all;
  for (const auto& sum : sums) all.push_back(&*sum);
  set_to_sum(all, out.edit_t(0), &in.pool);
  for (double x : entropy) out.entropy() += x;
  out.owner = in.globals.effective.owner;
  return out;
}

}  // namespace

Index MixtureAlloc::count_neighbours(Index k) const {
  constexpr Index usual = 64,
                  // guesses; inst/bench, many-clusters.R has the timings with them
      worthwhile = 4 * usual;
  const auto [L, candidates] = sparsity_;
  if (L == 0 || L >= k || (candidates == 0 && k <= worthwhile)) return 0;
  const Index width = std::max(candidates == 0 ? usual : candidates, L);
  return width < k ? width : 0;
}

// Finds the neighbours of all clusters once in a lap, at the first visit that has a memory of earlier
// supports.
class MixtureAlloc::NearVisitor final : public Visitor {
 public:
  explicit NearVisitor(const MixtureAlloc& alloc) : alloc_(alloc) {}

  Summary visit(const Visit& in) override {
    const Index width = in.memory ? alloc_.count_neighbours(in.weights->k) : 0;
    find_neighbours(in.globals.effective, *in.weights, width, in.pool);
    return alloc_.step(in, width > 0 ? &near_ : nullptr);
  }

  void prepare(const Globals& globals, const UnitMemory* memory, Pool& pool) override {
    const Index width = memory ? alloc_.count_neighbours(globals.effective.k) : 0;
    find_neighbours(globals.effective, *globals.weights, width, pool);
  }

  void write(Writer& out) const override {
    out.integer(near_.k);
    out.integer(near_.width);
    out.list(near_.cluster);
  }

  void read(Reader& in) override {
    near_.k = in.integer();
    near_.width = in.integer();
    near_.cluster = in.list<std::vector<int>>();
  }

 private:
  void find_neighbours(const Summary& effective, const Weights& weights, Index width, Pool& pool) {
    if (width == 0 || near_.k == effective.k) return;
    const Vec log_weights = alloc_.expected_log_weights(alloc_.counts(effective));
    const Vec constants = log_constants(log_weights, effective.k);
    if (alloc_.patterns() == 0) {
      near_ = nearest_clusters(effective, weights, constants, width, pool);
      return;
    }
    Weights own = weights;
    add_pattern_weights(own, log_weights);
    near_ = nearest_clusters(effective, own, constants, width, pool);
  }

  const MixtureAlloc& alloc_;
  Neighbours near_;
};

std::unique_ptr<Visitor> MixtureAlloc::visitor() const { return std::make_unique<NearVisitor>(*this); }

Summary MixtureAlloc::local_step(const Visit& in) const { return step(in, nullptr); }

Summary MixtureAlloc::step(const Visit& in, const Neighbours* near) const {
  const Index n = static_cast<Index>(in.units.size()), k = in.weights->k;
  const Vec log_pi = log_weights(in.globals);
  const bool few = n > 0 && count_neighbours(k) > 0;
  const auto* last = few ? in.memory : nullptr;
  if (last && near && !all_clusters_due(*last)) return visit_again(in, *near, *last, log_pi);
  const auto memory = few ? row_memory(n, k, width(), last) : nullptr;
  Weights weights = *in.weights;
  add_log_weights(weights, log_pi);
  weights.pack(in.obs, in.data);
  in.pool.spend(cost_of_rows(in.obs, in.data, n, stored_entries(in.data, in.units), k));
  Summary out = sum_units(in, k, false, shape(in.obs), [&] {
    return [&, w = Vec()](Index from, FeatureBlock& block, Responsibilities& r, double& entropy) mutable {
      w.resize(static_cast<std::size_t>(block.n() * k));
      block.times(weights, w.data());
      exclude_forbidden(block, 0, block.n(), in.globals.effective.owner, w.data());
      normalise(block.n(), k, w, width(), r, entropy);
      if (memory)
        for (Index i = 0; i < r.n; ++i) remember_row(*memory, from + i, r, i);
    };
  });
  out.memory = memory;
  return out;
}

Summary MixtureAlloc::visit_again(const Visit& in, const Neighbours& near, const UnitMemory& last,
                                  const Vec& log_pi) const {
  const Index n = static_cast<Index>(in.units.size()), k = in.weights->k;
  const std::vector<Index> order = by_best_cluster(last.support, n, k);
  std::vector<Index> rows;
  for (Index i : order) rows.push_back(in.units[i]);
  const auto memory = row_memory(n, k, width(), &last);
  in.pool.spend(cost_of_rows(in.obs, in.data, n, stored_entries(in.data, rows), near.width + width()));
  const Visit sorted{in.data, rows, in.obs, in.globals, in.weights, in.pool, in.sink};
  Weights with_patterns;
  if (patterns() > 0) add_pattern_weights(with_patterns = *in.weights, log_pi);
  const Weights& weights = patterns() > 0 ? with_patterns : *in.weights;
  const Vec constants = log_constants(log_pi, k);
  Summary out = sum_units(sorted, k, true, shape(in.obs), [&] {
    return [&, step = CandidateStep(weights, constants, near, last, in.globals.effective.owner, width())](
               Index from, FeatureBlock& block, Responsibilities& r, double& entropy) mutable {
      step.responsibilities(block, order.data() + from, r, entropy);
      for (Index i = 0; i < r.n; ++i) remember_row(*memory, order[from + i], r, i);
    };
  });
  out.memory = memory;
  return out;
}

Summary MixtureAlloc::summarise(const Visit& in, const GivenResponsibilities& resp) const {
  const Index k = resp.k();
  return sum_units(in, k, false, shape(in.obs), [&] {
    return [&](Index from, FeatureBlock& block, Responsibilities& r, double& entropy) {
      r.n = block.n();
      r.k = r.width = k;
      r.sparse = false;
      r.value.resize(static_cast<std::size_t>(r.n * k));
      r.row_entropy.assign(static_cast<std::size_t>(r.n), 0.0);
      for (Index i = 0; i < r.n; ++i)
        for (Index j = 0; j < k; ++j) {
          const double x = resp(in.units[from + i], j);
          r.value[i * k + j] = x;
          entropy -= x_log_x(x);
          r.row_entropy[i] -= x_log_x(x);
        }
    };
  });
}

std::vector<MoveKind> MixtureAlloc::moves() const {
  using Turn = MoveKind::Turn;
  if (fixed_k() > 0)
    return {move_kind(Turn::merge, true, *this, make_mixture_merge),
            move_kind(Turn::remove, true, *this, make_mixture_delete),
            move_kind(Turn::idle, true, *this, make_mixture_exchange),
            move_kind(Turn::idle, true, *this, make_mixture_resplit)};
  return {move_kind(Turn::birth, false, *this, make_mixture_birth),
          move_kind(Turn::merge, false, *this, make_mixture_merge),
          move_kind(Turn::remove, false, *this, make_mixture_delete),
          move_kind(Turn::settled, false, *this, make_mixture_refit)};
}

Vec MixtureAlloc::counts(const Summary& s) const {
  if (patterns() == 0) return s.sizes();
  Vec out;
  for (Index j = 0; j < s.k; ++j) append_counts(s.t(j), s.shape.p, out);
  return out;
}

void MixtureAlloc::append_counts(const double* t, Index p, Vec& counts) const {
  counts.push_back(t[0]);
  counts.insert(counts.end(), t + p - patterns(), t + p);
}

double allocation_value(const MixtureAlloc& alloc, const Vec& counts, Vec* near, double least) {
  constexpr double most_by_search = 5;  // gain, in nats, hoped for from a search: a guess
  const Index width = alloc.count_width();
  SummaryShape shape;
  shape.p = width;
  Summary s(shape, static_cast<Index>(counts.size()) / width);
  s.obs = counts;
  const bool searches = near && alloc.numbers_in_u(1) > 0;
  if (!searches || near->empty()) {
    const Globals best = alloc.global_step(s, {});
    if (searches) *near = best.u;
    return sum_terms(alloc.elbo_terms(s, best));
  }
  if (least > -HUGE_VAL) {
    const double first = sum_terms(alloc.elbo_terms(s, {s, *near, {}}));
    if (first < least - most_by_search) return first;
  }
  alloc.expected_log_weights(counts, near);
  return sum_terms(alloc.elbo_terms(s, {s, *near, {}}));
}

Vec without_row(Vec values, Index k, Index row) {
  const Index width = static_cast<Index>(values.size()) / k;
  values.erase(values.begin() + row * width, values.begin() + (row + 1) * width);
  return values;
}

Vec rows_in_order(const Vec& values, const std::vector<Index>& order) {
  const Index width = static_cast<Index>(values.size() / order.size());
  Vec out;
  out.reserve(values.size());
  for (Index j : order) out.insert(out.end(), values.begin() + j * width, values.begin() + (j + 1) * width);
  return out;
}

Vec MixtureAlloc::joined_search(const Vec& near, Index, Index b) const {
  if (near.empty() || numbers_in_u(1) == 0 || fixed_k() > 0) return near;
  return without_row(near, static_cast<Index>(near.size()) / numbers_in_u(1), b);
}

Vec MixtureAlloc::search_in_order(const Vec& near, const std::vector<Index>& order) const {
  return rows_in_order(near, order);
}

Vec joined_counts(const MixtureAlloc& alloc, Vec counts, Index a, Index b) {
  const Index width = alloc.count_width();
  const auto from = counts.begin() + b * width;
  for (Index i = 0; i < width; ++i) counts[a * width + i] += from[i];
  if (alloc.fixed_k() == 0) return without_row(counts, static_cast<Index>(counts.size()) / width, b);
  std::fill_n(from, width, 0.0);
  return counts;
}

Vec log_constants(const Vec& log_weights, Index k) {
  const Index width = static_cast<Index>(log_weights.size()) / k;
  Vec out;
  for (Index j = 0; j < k; ++j) out.push_back(log_weights[j * width]);
  return out;
}

void add_pattern_weights(Weights& weights, const Vec& log_weights) {
  const Index k = weights.k, patterns = static_cast<Index>(log_weights.size()) / k - 1;
  for (Index c = 0; c < patterns; ++c) {
    const Index feature = weights.p - patterns + c;
    for (Index j = 0; j < k; ++j) {
      const double value = log_weights[j * (1 + patterns) + 1 + c];
      weights.w[j * weights.p + feature] += value;
      if (!weights.transposed.empty()) weights.transposed[feature * k + j] += value;
    }
  }
}

void add_log_weights(Weights& weights, const Vec& log_weights) {
  weights.add_constants(log_constants(log_weights, weights.k));
  add_pattern_weights(weights, log_weights);
}

}  // namespace bnpvi::mixtures
