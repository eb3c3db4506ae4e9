#include "inference/start/known_clusters.h"

#include <algorithm>
#include <numeric>

#include "inference/learn/rename.h"
#include "inference/moves/move.h"
#include "observations/named_clusters.h"

namespace bnpvi {

namespace {

// The names and classes for which clusters are provided, numbered together: first names, then classes.
struct Known {
  const NamedClusters* names;
  Index n_names = 0, n_classes = 0;

  explicit Known(const Problem& problem) : names(problem.obs->capabilities().names) {
    if (names) n_names = names->n_names();
    if (!problem.alloc.grouped() || !problem.source.shape().labelled) return;
    n_classes = problem.source.open(0)->data.class_sets->n_classes;
  }
  Index n() const { return n_names + n_classes; }
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
        for (Index i = 0; i < m; ++i) {
          const double all = n > 0 ? product[i * (n + 1) + n] : 0;
          share[i] = s >= n    ? part_of_class(batch->data, rows[from + i], static_cast<int>(s - n + 1))
                     : all > 0 ? product[i * (n + 1) + s] / all
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
  if (known.n_classes > 0) s.owner.assign(static_cast<std::size_t>(s.k), 0);
  const std::vector<int>& named = s.names.of;
  const auto has = [&](Index name) {
    return std::count(named.begin(), named.end(), static_cast<int>(name)) > 0;
  };
  std::vector<Index> lacking;  // numbers, as in Known, of those without a cluster
  for (Index i = 0; i < known.n(); ++i)
    if (i >= known.n_names || !has(i + 1)) lacking.push_back(i);
  if (lacking.empty()) return start_at(problem, std::move(s));
  if (problem.alloc.fixed_k() == 0) s.append(static_cast<Index>(lacking.size()));
  const Vec t = statistics_of(known, problem, pool);
  const Index p = s.shape.p;
  for (Index j = s.k; !lacking.empty() && j-- > 0;) {
    if (s.names.of_cluster(j) > 0) continue;
    const Index i = lacking.back();
    lacking.pop_back();
    double* own = s.edit_t(j);
    std::copy_n(t.data() + i * p, p, own);
    if (problem.alloc.grouped() && problem.obs->capabilities().tokens)
      own[0] = std::accumulate(own + 1, own + p, 0.0);
    if (i < known.n_names)
      s.names.of[j] = static_cast<int>(i) + 1;
    else
      s.owner[j] = static_cast<int>(i - known.n_names) + 1;
  }
  return start_at(problem, std::move(s));
}

void give_names(const Problem& problem, State& state) {
  const NamedClusters* names = problem.obs->capabilities().names;
  if (!names || state.total.names.any()) return;
  const Index more = names->n_names() - state.k();
  if (more > 0) change_summaries(problem, state, [&](auto& s) { s.append(more); });
  give_names(problem.obs, state.total);
  state.globals = {};
  refresh(problem, state);
}

}  // namespace bnpvi
