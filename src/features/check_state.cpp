#include "features/check_state.h"

#include <algorithm>
#include <set>

#include "inference/learn/check_progress.h"

namespace bnpvi::features {

namespace {

constexpr int most_ids = 1 << 24;  // a table has an entry for each: a guess, far above the number of births

}  // namespace

void require_state(const FeatureProblem& problem, const FeatureState& state) {
  const Rows& rows = problem.rows;
  const SummaryShape shape = summary_shape(rows);
  const Index k = state.total.k, own = state.k(), batches = static_cast<Index>(state.batch.size());
  require_summary(state.total, shape, k);
  require_stored(own + problem.offset == k, "number of features");
  require_stored(batches == rows.n_batches() || batches == rows.n_batches() + 1, "number of batches");
  for (const auto& batch : state.batch) require_summary(*batch, shape, k);

  const std::set<int> ids(state.id.begin(), state.id.end());
  require_stored(static_cast<Index>(ids.size()) == own && 0 <= state.next_id && state.next_id <= most_ids &&
                     (ids.empty() || (*ids.begin() >= 0 && *ids.rbegin() < state.next_id)),
                 "numbers of features");
  require_stored(static_cast<Index>(state.presence.size()) == rows.n_batches(), "features of rows");
  for (Index b = 0; b < rows.n_batches(); ++b) {
    const Presence& p = *state.presence[static_cast<std::size_t>(b)];
    require_stored(p.rows() == rows.batch_rows[static_cast<std::size_t>(b)] && p.start.front() == 0 &&
                       std::is_sorted(p.start.begin(), p.start.end()) &&
                       p.start.back() == static_cast<Index>(p.feature.size()) &&
                       p.value.size() == p.feature.size() &&
                       std::all_of(p.feature.begin(), p.feature.end(),
                                   [&](int id) { return 0 <= id && id < state.next_id; }),
                   "features of rows");
  }

  const Loadings& loadings = state.loadings;
  require_stored(loadings.k == k && static_cast<Index>(loadings.m.size()) == k * rows.d &&
                     static_cast<Index>(loadings.v_inverse.size()) == rows.n_groups(),
                 "loadings");
  for (const Vec& inverse : loadings.v_inverse)
    require_stored(inverse.empty() || static_cast<Index>(inverse.size()) == k * k, "loadings");
  require_stored(static_cast<Index>(state.weights.logit.size()) == own &&
                     static_cast<Index>(state.weights.prob.size()) == own &&
                     (state.weights.stick.empty() || static_cast<Index>(state.weights.stick.size()) >= own),
                 "weights of features");
}

}  // namespace bnpvi::features
