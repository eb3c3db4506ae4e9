// Moves of latent features. Each is judged by the exact ELBO of a complete proposal.
#pragma once
#include <map>
#include <utility>

#include "features/feature_state.h"
#include "features/residual_direction.h"
#include "foundation/random.h"

namespace bnpvi::features {

/// What is not tried again, by identities, until a feature's count has changed by a tenth.
struct FailedMoves {
  using Pairs = std::map<std::pair<int, int>, std::pair<double, double>>;
  using Singles = std::map<int, double>;
  Singles deletes, flips, visited_flips;
  Pairs merges, turns, flips_of_two;

  static bool worth_trying(const Singles& features, int id, double count);
  static bool worth_trying(const Pairs& pairs, int a, int b, double count_a, double count_b);
};

/// Visits all rows of a proposal with its globals made optimal, a few times, until its ELBO is above
/// `to_beat`; false when that is not in sight.
bool overtakes(const FeatureProblem& problem, FeatureState& proposal, double to_beat);

/// Proposes a feature in the residuals of batch b. Scores along a direction are divided in two by their
/// values; the side farther from 0 begins with ν = 0.9, the other with 0.1, other batches with 0 until their
/// next visit. The batch is visited some times; true when the ELBO of all rows rose.
bool try_birth(const FeatureProblem& problem, FeatureState& state, Index b, Direction kind, Stream stream);

/// Proposes several features at once, at most `most`, along independent directions of the residuals whose
/// scores have clearly two values, and visits all rows. Returns how many came.
Index try_births(const FeatureProblem& problem, FeatureState& state, Index most, Stream stream);

/// Leaves out features as long as the ELBO is seen to rise while q(ρ) and the sticks stay as they are: quick
/// enough to follow every birth. Returns how many went.
Index delete_needless(const FeatureProblem& problem, FeatureState& state, Index& tried);

/// Leaves out the feature whose absence raises the ELBO most, as long as there is one. No row is looked at:
/// the loadings are integrated out, so that those of the other features take over. Returns how many went.
Index delete_features(const FeatureProblem& problem, FeatureState& state, Index& tried);

/// Leaves out the feature that would be missed least of those not tried yet, and visits all rows.
bool try_delete_with_visits(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed);

/// Makes one feature of two: of features with similar loadings that rows hardly have together, ν_a + ν_b −
/// ν_a ν_b; of features with opposite loadings, where rows with b have a, too, ν_a (1 − ν_b). Returns how
/// many pairs were joined.
Index merge_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most,
                     Index& tried);

/// Takes absence for presence, feature by feature, where there is an offset to make up for it. With `visits`
/// all rows are visited where that may raise the ELBO, and where no feature is flipped alone two are at once:
/// at most `most` pairs are tried. Returns how many were flipped.
Index flip_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most,
                    bool visits);

/// The same among rows that have another feature: where rows with b have a, too, ν_a A_a + ν_b A_b is
/// ν_a (A_a + A_b) + ν_a (1 − ν_b) (−A_b). Tried where it makes the loadings smaller, at most `most` times.
Index turn_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most);

/// Sorts features by decreasing count where that raises the ELBO.
void reorder_features(const FeatureProblem& problem, FeatureState& state);

}  // namespace bnpvi::features
