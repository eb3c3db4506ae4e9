// Conversion of latent feature models between R's lists and the engine's types.
#pragma once
#include "features/learn_features.h"
#include "inference/data/spool.h"
#include "r_convert.h"

namespace bnpvi {

/// What all exported functions read from a model of latent features, an R list of
///   prior         fields of make_feature_prior()
///   likelihood    noise_shape, noise_rate, loading_shape, loading_rate, and precision if it is given
///   offset        true: there is an offset, a feature that all rows have
///   group         for each column its group in an earlier fit, or 0
///   centre, unit  of each column (ColumnUnits); without them columns are not transformed.
class FeatureModel {
 public:
  explicit FeatureModel(const Rcpp::List& model);
  const Index offset;
  const features::LinearGaussianPrior likelihood;
  const std::unique_ptr<const features::FeaturePrior> prior;

  /// The rows of a source, in the model's units; for `keep` see Rows.
  features::Rows rows(std::shared_ptr<const Source> source, bool keep) const;

 private:
  features::ColumnUnits units_;
  std::vector<int> group_;
};

/// The data of a fit: rows in memory, or a spool (a file of batches).
class FeatureData {
 public:
  explicit FeatureData(const Rcpp::List& data);

  /// The rows in batches. If there is a spool (a file of batches), these are its batches. Otherwise `control`
  /// gives either `batch_of`, a batch number from 1 for each row, or a number of random batches, which are
  /// drawn with this key.
  features::Rows dealt(const FeatureModel& model, const Rcpp::List& control, std::uint64_t key) const;
  /// The rows of the data in a single batch.
  features::Rows whole(const FeatureModel& model) const;

 private:
  std::unique_ptr<RData> rdata_;
  std::shared_ptr<const Spool> spool_;
};

Rcpp::NumericMatrix matrix_to_r(const Vec& values, Index rows, Index cols);  // values are row-major

/// Globals (parameters that all rows share) and statistics of a state, as an R list. The offset, if there is
/// one, is the first feature.
Rcpp::List state_to_r(const features::FeatureState& state, const features::Rows& rows);
features::Loadings loadings_from_r(const Rcpp::List& state, const features::Rows& rows);

/// The features of each row as triplets: row, feature and ν, the probability that the row has the feature.
/// Both are counted from 1; rows are in their original order, features in the present order.
Rcpp::List presence_to_r(const std::vector<std::shared_ptr<const features::Presence>>& presence,
                         const features::Rows& rows, const std::vector<int>& id);

/// The state from which a fit starts. start: NULL (no features), or a list with `presence` or `state`.
/// presence: for each row and feature the probability ν that the row has it. state: an earlier state; if the
/// list also has `settled`, the statistics of `state` remain part of the totals, as those of earlier data.
features::FeatureState starting_state(const features::FeatureProblem& problem, SEXP start);

}  // namespace bnpvi
