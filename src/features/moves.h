// Moves of latent features. Each is accepted or refused by the exact ELBO of a complete proposal.
#pragma once
#include <map>
#include <utility>

#include "features/feature_state.h"
#include "features/residual_direction.h"
#include "foundation/random.h"

namespace bnpvi::features {

/// Pairs or single features for which a move failed, by the features' identities, with the features' counts
/// at that time. The move is not tried again until the count of a feature has changed by a tenth.
struct FailedMoves {
  using Pairs = std::map<std::pair<int, int>, std::pair<double, double>>;
  using Singles = std::map<int, double>;
  Singles deletes, flips, visited_flips;
  Pairs merges, turns, flips_of_two;

  static bool worth_trying(const Singles& features, int id, double count);
  static bool worth_trying(const Pairs& pairs, int a, int b, double count_a, double count_b);
};

/// Visits all rows of a proposal a few times, each time with optimal globals (parameters' posterior), until
/// its ELBO is above `to_beat`. Returns false as soon as that seems out of reach.
bool overtakes(const FeatureProblem& problem, FeatureState& proposal, double to_beat);

/// Proposes a new feature along a direction of the residuals of batch b. The scores of rows along the
/// direction are divided in two groups by their values; rows of the group farther from 0 begin with the
/// feature's probability ν = 0.9, the others with 0.1, and rows of other batches with 0 until their next
/// visit (update of q(z)). The batch is visited a few times. Returns true if the ELBO of all rows rose.
bool try_birth(const FeatureProblem& problem, FeatureState& state, Index b, Direction kind, Stream stream);

/// Proposes at most `most` features at once, along independent directions of the residuals whose scores
/// clearly form two groups, and visits all rows. Returns the number of new features.
Index try_births(const FeatureProblem& problem, FeatureState& state, Index most, Stream stream);

/// Drops features as long as a lower bound of the ELBO, computed with the present posteriors of the loadings'
/// precision and of the sticks, rises. This is quick enough to run after every birth. Returns the number of
/// dropped features.
Index delete_needless(const FeatureProblem& problem, FeatureState& state, Index& tried);

/// Drops the feature whose absence raises the ELBO most, and goes on until no absence raises it. No row is
/// visited: the loadings are integrated out, so that those of the other features change accordingly. Returns
/// the number of dropped features.
Index delete_features(const FeatureProblem& problem, FeatureState& state, Index& tried);

/// Drops, among the features not tried yet, the one whose absence lowers the ELBO least, then visits all
/// rows. Returns true if the ELBO is higher; otherwise the state is unchanged.
bool try_delete_with_visits(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed);

/// Joins pairs of features into one. If features a and b have similar loadings and rows rarely have both, a
/// row gets the joined feature with probability ν_a + ν_b − ν_a ν_b, where ν are its probabilities of a and
/// b. If their loadings are opposite and rows with b have a, too, the probability is ν_a (1 − ν_b). Returns
/// the number of joined pairs.
Index merge_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most,
                     Index& tried);

/// Flips features, that is, replaces presence by absence, one feature at a time; this needs an offset (a
/// feature of all rows), which compensates for it. With `visits`, all rows are visited where that may raise
/// the ELBO, and if no single feature is flipped, at most `most` pairs are tried. Returns the number of
/// flipped features.
Index flip_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most,
                    bool visits);

/// Flips feature a among the rows that have another feature b, where rows with b also have a. Let A be the
/// loadings and ν the probabilities of a row's features: ν_a A_a + ν_b A_b equals ν_a (A_a + A_b) + ν_a (1 −
/// ν_b) (−A_b), so the sum of both features stays the same. It is tried where it makes the loadings smaller,
/// at most `most` times.
Index turn_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most);

/// Sorts features by decreasing count if that raises the ELBO.
void reorder_features(const FeatureProblem& problem, FeatureState& state);

}  // namespace bnpvi::features
