// The state of a fit of latent features: a plain value.
#pragma once
#include <memory>
#include <vector>

#include "features/feature_prior.h"
#include "features/local_step.h"
#include "inference/learn/observer.h"

namespace bnpvi::features {

/// The parts of a fit that stay the same: data, priors and options.
struct FeatureProblem {
  const Rows& rows;
  LinearGaussianPrior likelihood;
  const FeaturePrior& prior;
  Index offset;    // 1: the first feature is an offset, which all rows have; else 0
  Index sparsity;  // L of Visiting; 0: rows may have any number of features
  std::uint64_t seed;
  Pool& pool;
  Observer& observer = nobody;
};

/// The statistics of all rows and of each batch (the total is their sum), and the globals that are optimal
/// for the total. There may be one batch more than Rows has, the last one, for earlier data that are no
/// longer available.
struct FeatureState {
  Summary total;
  std::vector<std::shared_ptr<const Summary>> batch;
  std::vector<std::shared_ptr<const Presence>> presence;  // q(z) of the rows of each batch
  std::vector<int> id;                                    // identities of the features after the offset
  int next_id = 0;
  Loadings loadings;
  FeatureWeights weights;
  double elbo = 0;

  Index k() const { return static_cast<Index>(id.size()); }  // number of features, the offset not counted
};

/// True if the total includes rows of earlier data, which are not available.
inline bool has_settled(const FeatureProblem& problem, const FeatureState& state) {
  return static_cast<Index>(state.batch.size()) > problem.rows.n_batches();
}

/// The expected numbers N_k of rows that have each feature; without the offset, which all rows have.
Vec counts_of(const FeatureProblem& problem, const Summary& total);
double entropy_of(const Summary& total);

/// Makes globals and ELBO optimal for state.total. gram: whether to compute also the gram matrices of the
/// loadings, which visits need (add_gram()).
void renew(const FeatureProblem& problem, FeatureState& state, bool gram = true);

LocalModel local_model(const FeatureProblem& problem, const FeatureState& state);

/// Replaces the statistics of batch b and its presence (q(z): which rows have which features), and updates
/// the total.
void put_batch(FeatureState& state, Index b, Visited fresh);
/// Visits batch b: updates q(z) of its rows at the present globals, which stay as they are, and the
/// statistics.
void visit_batch(const FeatureProblem& problem, FeatureState& state, Index b, const Visiting& how);
void resum(const FeatureProblem& problem, FeatureState& state);

/// The state of k features with this presence (q(z): the features of each row) in each batch; the features
/// get identities 0 .. k − 1.
FeatureState state_of(const FeatureProblem& problem, Index k, std::vector<Presence> presence);
/// Replaces the state by the proposal, and calls the observer.
void accept(const FeatureProblem& problem, FeatureState& state, FeatureState proposal);
/// The state of new rows given `statistics` of earlier ones: the rows are visited once, from no features, at
/// globals that are optimal for `statistics` alone; then globals are optimal for the total. The total has the
/// new rows and, with `settled`, also `statistics`, as a last batch without rows.
FeatureState state_from(const FeatureProblem& problem, const Summary& statistics, bool settled);

// Changes of the list of features in all summaries; j counts the features after the offset. The globals of
// the remaining features keep their values, from which the next search starts.
void drop_feature(const FeatureProblem& problem, FeatureState& state, Index j);
void append_features(FeatureState& state, Index more);
void permute_features(const FeatureProblem& problem, FeatureState& state, const std::vector<Index>& order);

}  // namespace bnpvi::features
