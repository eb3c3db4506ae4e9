// The state of a fit of latent features: a plain value.
#pragma once
#include <memory>
#include <vector>

#include "features/feature_prior.h"
#include "features/local_step.h"
#include "inference/learn/observer.h"

namespace bnpvi::features {

/// What a fit does not change.
struct FeatureProblem {
  const Rows& rows;
  LinearGaussianPrior likelihood;
  const FeaturePrior& prior;
  Index offset;    // 1: the first feature is in all rows; else 0
  Index sparsity;  // 0: rows may have any number of features
  std::uint64_t seed;
  Pool& pool;
  Observer& observer = nobody;
};

/// The statistics of all rows, those of the batches whose sum they are, and the globals that are optimal for
/// them. A last batch without rows, if there is one more than Rows has, holds rows that are no longer at
/// hand.
struct FeatureState {
  Summary total;
  std::vector<std::shared_ptr<const Summary>> batch;
  std::vector<std::shared_ptr<const Presence>> presence;  // of the batches that have rows
  std::vector<int> id;                                    // of the features behind the offset
  int next_id = 0;
  Loadings loadings;
  FeatureWeights weights;
  double elbo = 0;

  Index k() const { return static_cast<Index>(id.size()); }  // without the offset
};

/// True if the total includes rows of earlier data, which are not available.
inline bool has_settled(const FeatureProblem& problem, const FeatureState& state) {
  return static_cast<Index>(state.batch.size()) > problem.rows.n_batches();
}

/// Of the features behind the offset.
Vec counts_of(const FeatureProblem& problem, const Summary& total);
double entropy_of(const Summary& total);

/// Globals and ELBO made optimal for state.total; `gram`: for visits, too.
void renew(const FeatureProblem& problem, FeatureState& state, bool gram = true);

LocalModel local_model(const FeatureProblem& problem, const FeatureState& state);

/// Batch b takes these statistics and this presence, which go into the total.
void put_batch(FeatureState& state, Index b, Visited fresh);
/// A visit of batch b at the present globals, which are left as they are.
void visit_batch(const FeatureProblem& problem, FeatureState& state, Index b, const Visiting& how);
void resum(const FeatureProblem& problem, FeatureState& state);

/// The state of features with this presence, batch by batch, whose identities are 0 .. k − 1.
FeatureState state_of(const FeatureProblem& problem, Index k, std::vector<Presence> presence);
/// Puts the proposal in place of the state, and calls the observer.
void accept(const FeatureProblem& problem, FeatureState& state, FeatureState proposal);
/// The state of new rows before their first visit. The globals come from these statistics alone; with
/// `settled` the statistics also stay part of the total.
FeatureState state_from(const FeatureProblem& problem, const Summary& statistics, bool settled);

// Changes of the list of features in all summaries; j counts the features after the offset. Globals keep the
// values of the features that remain, as starts of the next search.
void drop_feature(const FeatureProblem& problem, FeatureState& state, Index j);
void append_features(FeatureState& state, Index more);
void permute_features(const FeatureProblem& problem, FeatureState& state, const std::vector<Index>& order);

}  // namespace bnpvi::features
