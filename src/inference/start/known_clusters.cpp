#include "inference/start/known_clusters.h"

#include <algorithm>
#include <numeric>

#include "inference/learn/rename.h"
#include "inference/moves/move.h"
#include "observations/named_clusters.h"

namespace bnpvi {

namespace {

// A cluster that is provided for a name, a class or a class with a name; 0: none.
struct Wanted {
  int name, owner;
};

// The clusters that are provided. A name and a class that are called the same have one together.
struct Known {
  const NamedClusters* names;
  Index n_names = 0;
  bool labelled = false;
  std::vector<Wanted> clusters;

  explicit Known(const Problem& problem) : names(problem.obs->capabilities().names) {
    if (names) n_names = names->n_names();
    labelled = problem.alloc.grouped() && problem.source.shape().labelled;
    for (int name = 1; name <= n_names; ++name)
      clusters.push_back({name, labelled ? names->class_of(name) : 0});
    if (!labelled) return;
    const Index n_classes = problem.source.open(0)->data.class_sets->n_classes;
    for (int owner = 1; owner <= n_classes; ++owner)
      if (std::none_of(clusters.begin(), clusters.end(), [&](const Wanted& w) { return w.owner == owner; }))
        clusters.push_back({0, owner});
  }
  Index n() const { return static_cast<Index>(clusters.size()); }
};

// Weights of which the first n_names make the product with a row its sum over the columns of each name; the
// last make it the sum over all columns.
Weights indicators(const ObsModel& obs, const Known& known, const DataShape& data) {
  Weights out;
  out.k = known.n_names + 1;
  out.p = obs.n_features();
  out.w.resize(static_cast<std::size_t>(out.k * out.p));
  std::fill(out.w.begin(), out.w.end(), 0.0);
  for (int s = 1; s < out.k; ++s)
    for (int v : known.names->columns_of(s)) out.w[(s - 1) * out.p + 1 + v] = 1;
  std::fill(out.w.end() - out.p + 1, out.w.end(), 1.0);
  if (has_entries(obs)) out.transpose();
  out.pack(obs, data);
  return out;
}

std::vector<Index> rows_of(const Batch& batch, bool grouped) {
  if (!grouped) return batch.units;
  std::vector<Index> out;
  for (Index group : batch.units)
    for (Index i = batch.data.starts[group]; i < batch.data.starts[group + 1]; ++i) out.push_back(i);
  return out;
}

// The fraction of a row that is put into the initial cluster of a class.
double part_of_class(const Dataset& data, Index row, int owner) {
  const ClassSets& sets = *data.class_sets;
  const int set = data.classes[row];
  if (set == 0 || !sets.allows(set, owner)) return 0;
  double classes = 0;
  for (int c = 1; c <= sets.n_classes; ++c) classes += sets.allows(set, c);
  return 1 / classes;
}

// The statistics of the known clusters, known.n() × p.
Vec statistics_of(const Known& known, const Problem& problem, Pool& pool) {
  const Index n = known.n_names, p = problem.obs->n_features();
  const Weights weights = indicators(problem.obs, known, problem.source.shape());
  Vec out(static_cast<std::size_t>(known.n() * p), 0.0), product, share;
  for (Index b = 0; b < problem.source.n_batches(); ++b) {
    const std::shared_ptr<const Batch> batch = problem.source.open(b);
    const std::vector<Index> rows = rows_of(*batch, problem.alloc.grouped());
    FeatureBlock block(problem.obs, batch->data);
    for (std::size_t from = 0; from < rows.size(); from += static_cast<std::size_t>(block.block_rows())) {
      pool.poll();
      const Index m = std::min(block.block_rows(), static_cast<Index>(rows.size() - from));
      block.load(rows.data() + from, m);
      share.resize(static_cast<std::size_t>(m));
      if (n > 0) {
        product.resize(static_cast<std::size_t>(m * (n + 1)));
        block.times(weights, product.data());
      }
      for (Index s = 0; s < known.n(); ++s) {
        const Wanted& wanted = known.clusters[s];
        for (Index i = 0; i < m; ++i) {
          const double all = n > 0 ? product[i * (n + 1) + n] : 0;
          share[i] = wanted.owner > 0 ? part_of_class(batch->data, rows[from + i], wanted.owner)
                     : all > 0        ? product[i * (n + 1) + wanted.name - 1] / all
                                      : 0;
          share[i] *= block.weight(i);
        }
        block.add_weighted(share.data(), out.data() + s * p);
      }
    }
  }
  return out;
}

Globals start_at(const Problem& problem, Summary s) {
  s.permute(s.by_size());
  return problem.alloc.global_step(s, {});
}

}  // namespace

Index n_known_clusters(const Problem& problem) { return Known(problem).n(); }

Globals with_known_clusters(const Problem& problem, Globals start, Pool& pool) {
  const Known known(problem);
  if (known.n() == 0) return start;
  Summary s = std::move(start.effective);
  if (known.n_names > 0) s.names.of.resize(static_cast<std::size_t>(s.k), 0);
  if (known.labelled) s.owner.assign(static_cast<std::size_t>(s.k), 0);
  std::vector<Index> place;  // the cluster of each known one, −1 where it is still to be provided
  for (const Wanted& wanted : known.clusters) {
    const auto at = std::find(s.names.of.begin(), s.names.of.end(), wanted.name);
    place.push_back(wanted.name > 0 && at != s.names.of.end() ? at - s.names.of.begin() : -1);
  }
  const Index lacking = std::count(place.begin(), place.end(), -1);
  if (lacking == 0 && !known.labelled) return start_at(problem, std::move(s));
  if (problem.alloc.fixed_k() == 0) s.append(lacking);
  Index free = s.k;
  for (Index i = known.n(); i-- > 0;) {
    while (place[i] < 0 && free > 0)
      if (s.names.of_cluster(--free) == 0) place[i] = free;
  }
  const Vec t = statistics_of(known, problem, pool);
  const Index p = s.shape.p;
  for (Index i = 0; i < known.n(); ++i) {
    const Wanted& wanted = known.clusters[i];
    const Index j = place[i];
    if (j < 0 || (wanted.owner == 0 && s.names.of_cluster(j) > 0)) continue;
    double* own = s.edit_t(j);
    std::copy_n(t.data() + i * p, p, own);
    if (problem.alloc.grouped() && problem.obs->capabilities().tokens)
      own[0] = std::accumulate(own + 1, own + p, 0.0);
    if (wanted.name > 0) s.names.of[j] = wanted.name;
    if (wanted.owner > 0) s.owner[j] = wanted.owner;
  }
  return start_at(problem, std::move(s));
}

void give_names(const Problem& problem, State& state) {
  const NamedClusters* names = problem.obs->capabilities().names;
  if (!names || state.total.names.any()) return;
  const Index more = problem.alloc.fixed_k() > 0 ? 0 : n_lacking_for_names(*names, state.total);
  if (more > 0) change_summaries(problem, state, [&](auto& s) { s.append(more); });
  give_names(problem.obs, state.total);
  state.globals = {};
  refresh(problem, state);
}

}  // namespace bnpvi
