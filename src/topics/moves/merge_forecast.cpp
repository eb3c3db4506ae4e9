#include "topics/moves/merge_forecast.h"

#include <cmath>

#include "inference/data/evidence.h"
#include "topics/model/topic_sum.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

namespace {

// Nats, at most, that the best sticks after a merge are foretold to be above those of before. In three fits
// to the whales and the birds the median of 8,000 pairs was 0.06, of 99 % below 1.2, the most 9.1.
constexpr double best_sticks_bring = 10;

}  // namespace

MergeForecast::MergeForecast(const MoveContext& context, const TopicAlloc& alloc, const State& state,
                             const std::vector<TopicNumbers>& wanted)
    : c_(context),
      alloc_(alloc),
      state_(state),
      wanted_(static_cast<std::size_t>(state.k() * state.k()), 0),
      prior_(alloc.document_prior(state.globals)),
      joint_(wanted_.size() * TopicExtra::size, 0.0),
      evidence_(static_cast<std::size_t>(state.k()), NAN),
      present_(sum_terms(alloc.elbo_terms(state.total, state.globals))) {
  for (const auto& [a, b] : wanted) {
    wanted_[a * state.k() + b] = 1;
    for (Index j : {a, b})
      if (std::isnan(evidence_[j])) evidence_[j] = used_evidence(context.problem.obs, state.total, j);
  }
  for (Index batch = 0; batch < static_cast<Index>(state.batch.size()); ++batch) {
    const ShareTable& memory = memory_of(state, batch);
    for (Index i = 0; i < static_cast<Index>(memory.unit.size()); ++i)
      add_joint_tangents(memory.shares(i), memory.unit[i].weight);
  }
}

// The tangent of log Γ at what a document has of both, in place of those of each.
void MergeForecast::add_joint_tangents(Shares shares, double times) {
  for (std::size_t i = 0; i < shares.size(); ++i)
    for (std::size_t j = i + 1; j < shares.size(); ++j) {
      const Share &a = shares[i], &b = shares[j];
      if (!wanted_[a.cluster * state_.k() + b.cluster]) continue;
      double* to = joint_.data() + (a.cluster * state_.k() + b.cluster) * TopicExtra::size;
      const double count = a.count + b.count;
      const double prior = prior_[a.cluster] + (alloc_.fixed_k() > 0 ? 0 : prior_[b.cluster]);
      Share part[] = {a, b, {0, 0, count, 0, count + prior}};
      for (Share& s : part) s.cluster = 0;
      add_tangents(Shares(part, 2), -times, to);
      add_tangents(Shares(part + 2, 1), times, to);
    }
}

bool MergeForecast::shared(Index a, Index b) const {
  return joint_[(a * state_.k() + b) * TopicExtra::size + TopicExtra::users] != 0;
}

Globals MergeForecast::at_present(const Summary& merged, Index a, Index b) const {
  if (!alloc_.has_sticks()) return alloc_.global_step(merged, {});
  Vec weights = alloc_.mean_weights(state_.globals);
  weights[a] += weights[b];
  weights.erase(weights.begin() + b);
  Globals out = alloc_.globals_at(merged, weights);
  out.omega = state_.globals.omega;
  out.omega.erase(out.omega.begin() + b);
  return out;
}

double MergeForecast::gain(Index a, Index b, double least) const {
  const ObsModel& obs = c_.problem.obs;
  const Summary& s = state_.total;
  Summary merged = allocation_part(s);
  for (Index i = 0; i < TopicExtra::size; ++i)
    merged.extra[a * TopicExtra::size + i] += joint_[(a * s.k + b) * TopicExtra::size + i];
  keeping_fixed_k(alloc_, Changes().merge(a, b)).apply(merged);
  const double others = evidence_of_pair(obs, s, a, b) - evidence_[a] - evidence_[b] - present_;
  const Globals now = at_present(merged, a, b);
  const double low = others + sum_terms(alloc_.elbo_terms(merged, now));
  if (low + best_sticks_bring < least) return low;
  return others + sum_terms(alloc_.elbo_terms(merged, alloc_.global_step(merged, now)));
}

}  // namespace bnpvi::topics
