#include "features/feature_state.h"

#include <algorithm>
#include <numeric>

namespace bnpvi::features {

Vec counts_of(const FeatureProblem& problem, const Summary& total) {
  Vec out = total.sizes();
  out.erase(out.begin(), out.begin() + problem.offset);
  const double n = total.scalar[n_rows];
  for (double& x : out) x = std::clamp(x, 0.0, n);
  return out;
}

double entropy_of(const Summary& total) {
  double out = 0;
  for (Index j = 0; j < total.k; ++j) out += entropy_of(total, j);
  return out;
}

void renew(const FeatureProblem& problem, FeatureState& state, bool gram) {
  problem.pool.poll();
  state.loadings = fit_loadings(problem.likelihood, problem.rows, state.total, state.loadings);
  if (gram) add_gram(problem.rows, state.loadings);
  state.weights =
      problem.prior.fit(counts_of(problem, state.total), state.total.scalar[n_rows], state.weights);
  state.elbo = state.loadings.value + state.weights.value + entropy_of(state.total);
}

LocalModel local_model(const FeatureProblem& problem, const FeatureState& state) {
  return {problem.rows,   state.loadings,   state.weights.logit, state.id,
          problem.offset, problem.sparsity, problem.seed};
}

void put_batch(FeatureState& state, Index b, Visited fresh) {
  state.total.exchange(*state.batch[b], *fresh.summary, nullptr);
  state.batch[b] = std::move(fresh.summary);
  state.presence[b] = std::move(fresh.presence);
}

void visit_batch(const FeatureProblem& problem, FeatureState& state, Index b, const Visiting& how) {
  put_batch(state, b,
            visit(local_model(problem, state), *problem.rows.open(b), *state.presence[b], how, problem.pool));
}

void resum(const FeatureProblem& problem, FeatureState& state) {
  std::vector<const Summary*> parts;
  for (const auto& batch : state.batch) parts.push_back(batch.get());
  state.total.set_to_sum(parts, &problem.pool);
}

FeatureState state_of(const FeatureProblem& problem, Index k, std::vector<Presence> presence) {
  FeatureState out;
  out.id.resize(static_cast<std::size_t>(k));
  std::iota(out.id.begin(), out.id.end(), 0);
  out.next_id = static_cast<int>(k);
  out.loadings.k = k + problem.offset;
  const Rows& rows = problem.rows;
  for (Index b = 0; b < rows.n_batches(); ++b) {
    Visited given = visit(local_model(problem, out), *rows.open(b), presence[b], {0}, problem.pool);
    out.batch.push_back(std::move(given.summary));
    out.presence.push_back(std::move(given.presence));
  }
  resum(problem, out);
  renew(problem, out);
  return out;
}

void accept(const FeatureProblem& problem, FeatureState& state, FeatureState proposal) {
  const auto anew = [&] {
    std::vector<Presence> presence;
    for (const auto& batch : proposal.presence) {
      presence.push_back(*batch);
      for (int& feature : presence.back().feature)
        feature = static_cast<int>(std::find(proposal.id.begin(), proposal.id.end(), feature) -
                                   proposal.id.begin());
    }
    return state_of(problem, proposal.k(), std::move(presence)).elbo;
  };
  problem.observer.replaced(state.elbo, proposal.elbo,
                            has_settled(problem, state) ? std::function<double()>() : anew);
  state = std::move(proposal);
}

FeatureState state_from(const FeatureProblem& problem, const Summary& statistics, bool settled) {
  FeatureState out;
  const Rows& rows = problem.rows;
  out.total = statistics;
  out.id.resize(static_cast<std::size_t>(statistics.k - problem.offset));
  std::iota(out.id.begin(), out.id.end(), 0);
  out.next_id = static_cast<int>(out.id.size());
  renew(problem, out);
  for (Index b = 0; b < rows.n_batches(); ++b) {
    Visited fresh = visit(local_model(problem, out), *rows.open(b), no_presence(rows.batch_rows[b]),
                          {20, Visiting::Start::fresh}, problem.pool);
    out.batch.push_back(std::move(fresh.summary));
    out.presence.push_back(std::move(fresh.presence));
  }
  if (settled) out.batch.push_back(std::make_shared<const Summary>(statistics));
  resum(problem, out);
  renew(problem, out);
  return out;
}

namespace {

template <class Operation>
void change_summaries(FeatureState& state, Operation op) {
  op(state.total);
  for (auto& batch : state.batch) {
    auto changed = std::make_shared<Summary>(*batch);
    op(*changed);
    batch = std::move(changed);
  }
}

}  // namespace

void drop_feature(const FeatureProblem& problem, FeatureState& state, Index j) {
  change_summaries(state, [&](Summary& s) { s.drop(j + problem.offset); });
  state.id.erase(state.id.begin() + j);
  Vec& stick = state.weights.stick;
  if (!stick.empty()) stick.erase(stick.begin() + 2 * j, stick.begin() + 2 * j + 2);
}

void append_features(FeatureState& state, Index more) {
  change_summaries(state, [&](Summary& s) { s.append(more); });
  Vec& stick = state.weights.stick;
  const Vec last(stick.end() - (stick.empty() ? 0 : 2), stick.end());
  for (Index j = 0; j < more; ++j) {
    state.id.push_back(state.next_id++);
    stick.insert(stick.end(), last.begin(), last.end());
  }
}

void permute_features(const FeatureProblem& problem, FeatureState& state, const std::vector<Index>& order) {
  std::vector<Index> all(static_cast<std::size_t>(problem.offset), 0);
  std::vector<int> ids;
  for (Index j : order) {
    all.push_back(j + problem.offset);
    ids.push_back(state.id[j]);
  }
  change_summaries(state, [&](Summary& s) { s.permute(all); });
  state.id = ids;
}

}  // namespace bnpvi::features
