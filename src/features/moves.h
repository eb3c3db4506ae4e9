// Moves of latent features. A move is accepted if the exact ELBO of the complete proposal is higher.
#pragma once
#include <map>
#include <utility>

#include "features/feature_state.h"
#include "features/residual_direction.h"
#include "foundation/random.h"

namespace bnpvi::features {

/// Features or pairs of features for which a move failed. The key is their identities, the value their counts
/// at that time. The move is tried again only after a count has changed by a tenth.
struct FailedMoves {
  using Pairs = std::map<std::pair<int, int>, std::pair<double, double>>;
  using Singles = std::map<int, double>;
  Singles deletes, flips, visited_flips;
  Pairs merges, turns, flips_of_two;

  static bool worth_trying(const Singles& features, int id, double count);
  static bool worth_trying(const Pairs& pairs, int a, int b, double count_a, double count_b);
};

/// Visits all rows of a proposal a few times, each time with optimal globals (posterior of the parameters).
/// Returns true once its ELBO is above `to_beat`, and false as soon as that seems out of reach.
bool overtakes(const FeatureProblem& problem, FeatureState& proposal, double to_beat);

/// Proposes a new feature along a direction of the residuals of batch b. The rows' scores along the direction
/// are divided into two groups. Rows of the group farther from 0 start with probability ν = 0.9 of the
/// feature, the other rows of the batch with 0.1. Rows of other batches have 0 until their next visit (update
/// of q(z)). The batch is visited a few times. Returns true if the ELBO of all rows rose.
bool try_birth(const FeatureProblem& problem, FeatureState& state, Index b, Direction kind, Stream stream);

/// Proposes up to `most` new features at once, and visits all rows. The features lie along independent
/// directions of the residuals whose scores clearly form two groups. Returns the number of new features.
Index try_births(const FeatureProblem& problem, FeatureState& state, Index most, Stream stream);

/// Drops features as long as a lower bound of the ELBO rises. The bound keeps the present posteriors of the
/// loadings' precision and of the sticks, so it is quick enough to run after every birth. Returns the number
/// of dropped features.
Index delete_needless(const FeatureProblem& problem, FeatureState& state, Index& tried);

/// Drops features, always the one whose absence raises the ELBO most, until no absence raises it. No row is
/// visited. The loadings of the other features are adapted, since loadings are integrated out. Returns the
/// number of dropped features.
Index delete_features(const FeatureProblem& problem, FeatureState& state, Index& tried);

/// Drops the feature whose absence lowers the ELBO least, of those not tried yet, and visits all rows.
/// Returns true if the ELBO is higher; otherwise the state is unchanged.
bool try_delete_with_visits(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed);

/// Joins pairs of features into one. Let ν be the probabilities of features a and b for a row. If their
/// loadings are similar and rows rarely have both, a row has the joined feature with probability ν_a + ν_b −
/// ν_a ν_b. If their loadings are opposite and rows with b also have a, the probability is ν_a (1 − ν_b).
/// Returns the number of joined pairs.
Index merge_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most,
                     Index& tried);

/// Flips features, one at a time: presence is replaced by absence in all rows. This needs an offset (a
/// feature of all rows), which compensates for it. With `visits`, all rows are visited where that may raise
/// the ELBO. If no single feature is flipped, up to `most` pairs are then tried. Returns the number of
/// flipped features.
Index flip_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most,
                    bool visits);

/// Flips feature a among the rows that have feature b. It applies where rows with b also have a. Let A be the
/// loadings and ν the probabilities of a row's features. The sum of both features stays the same, as ν_a A_a
/// + ν_b A_b equals ν_a (A_a + A_b) + ν_a (1 − ν_b) (−A_b) if ν_a = 1 wherever ν_b > 0. It is tried where the
/// loadings become smaller, up to `most` times.
Index turn_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most);

/// Sorts features by decreasing count if that raises the ELBO.
void reorder_features(const FeatureProblem& problem, FeatureState& state);

}  // namespace bnpvi::features
