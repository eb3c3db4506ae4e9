// The state of a fit of latent features: a plain value.
#pragma once
#include <memory>
#include <vector>

#include "features/feature_prior.h"
#include "features/local_step.h"
#include "inference/learn/observer.h"

namespace bnpvi::features {

/// The parts of a fit of latent features that stay the same: data, priors and options.
struct FeatureProblem {
  const Rows& rows;
  LinearGaussianPrior likelihood;
  const FeaturePrior& prior;
  Index offset;    // 1: the first feature is an offset, which all rows have; else 0
  Index sparsity;  // L, the most features of a row in a sweep (Visiting); 0: any number
  std::uint64_t seed;
  Pool& pool;
  Observer& observer = nobody;
};

/// The state of a fit of latent features. It has the statistics of each batch, their sum over all rows, and
/// the globals (posterior of the parameters) that are optimal for the sum. `batch` may have one entry more
/// than Rows has batches. This last entry has the statistics of earlier data that are no longer available.
struct FeatureState {
  Summary total;
  std::vector<std::shared_ptr<const Summary>> batch;
  std::vector<std::shared_ptr<const Presence>> presence;  // for each batch, q(z): the features of each row
  // identities of the features after the offset: numbers that moves do not change
  std::vector<int> id;
  int next_id = 0;
  Loadings loadings;
  FeatureWeights weights;
  double elbo = 0;

  Index k() const { return static_cast<Index>(id.size()); }  // number of features, the offset not counted
};

/// True if the total statistics include rows of earlier data, which are not available.
inline bool has_settled(const FeatureProblem& problem, const FeatureState& state) {
  return static_cast<Index>(state.batch.size()) > problem.rows.n_batches();
}

/// The expected numbers N_k of rows that have each feature, without the offset (a feature that all rows
/// have).
Vec counts_of(const FeatureProblem& problem, const Summary& total);
double entropy_of(const Summary& total);

/// Makes the globals (posterior of the parameters) and the ELBO optimal for state.total. gram: whether to
/// compute the second moments of the loadings, too (add_gram()). Visits (updates of q(z)) need them.
void renew(const FeatureProblem& problem, FeatureState& state, bool gram = true);

LocalModel local_model(const FeatureProblem& problem, const FeatureState& state);

/// Replaces the statistics and the presence of batch b, and updates the total statistics. The presence is
/// q(z): the probabilities that rows have features.
void put_batch(FeatureState& state, Index b, Visited fresh);
/// Updates q(z) of the rows of batch b at the present globals (parameters' posterior), which stay as they
/// are, and then the statistics.
void visit_batch(const FeatureProblem& problem, FeatureState& state, Index b, const Visiting& how);
void resum(const FeatureProblem& problem, FeatureState& state);

/// Makes the state of k features with this presence (q(z): the features of each row) in each batch. The
/// features get identities 0 .. k − 1.
FeatureState state_of(const FeatureProblem& problem, Index k, std::vector<Presence> presence);
/// Replaces the state of the fit by the proposal, and calls the observer.
void accept(const FeatureProblem& problem, FeatureState& state, FeatureState proposal);
/// Makes the state for new rows, given the statistics of earlier rows. The globals (posterior of the
/// parameters) are first made optimal for these statistics alone. Then the new rows, which start without
/// features, are visited once, and the globals are made optimal for the total. The total has the new rows.
/// With `settled` it also has the earlier statistics, as a last batch without rows.
FeatureState state_from(const FeatureProblem& problem, const Summary& statistics, bool settled);

// Removes feature j from all statistics. j counts the features after the offset (a feature of all rows). The
// other features keep the values of their parameters, where the next search starts.
void drop_feature(const FeatureProblem& problem, FeatureState& state, Index j);
void append_features(FeatureState& state, Index more);
void permute_features(const FeatureProblem& problem, FeatureState& state, const std::vector<Index>& order);

}  // namespace bnpvi::features
