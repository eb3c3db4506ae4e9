// Latent features between R's lists and the engine's types.
#pragma once
#include "features/learn_features.h"
#include "inference/data/spool.h"
#include "r_convert.h"

namespace bnpvi {

/// What all entries read of a model: a list of
///   prior        as make_feature_prior() has it
///   likelihood   noise_shape, noise_rate, loading_shape, loading_rate, and precision where it is given
///   offset       true: all rows have an offset
///   group        of each column in an earlier fit, or 0
///   centre, unit of each column: ColumnUnits; none: columns as they are.
class FeatureModel {
 public:
  explicit FeatureModel(const Rcpp::List& model);
  const Index offset;
  const features::LinearGaussianPrior likelihood;
  const std::unique_ptr<const features::FeaturePrior> prior;

  /// The rows of a source, in its units; keep: Rows.
  features::Rows rows(std::shared_ptr<const Source> source, bool keep) const;

 private:
  features::ColumnUnits units_;
  std::vector<int> group_;
};

/// The data of a fit, rows in memory or a spool.
class FeatureData {
 public:
  explicit FeatureData(const Rcpp::List& data);

  /// In batches: those of the spool, those that `control` gives (`batch_of`, a number from 1 for each row),
  /// or else so many as it says, at random by this key.
  features::Rows dealt(const FeatureModel& model, const Rcpp::List& control, std::uint64_t key) const;
  /// In one batch.
  features::Rows whole(const FeatureModel& model) const;

 private:
  std::unique_ptr<RData> rdata_;
  std::shared_ptr<const Spool> spool_;
};

Rcpp::NumericMatrix matrix_to_r(const Vec& values, Index rows, Index cols);  // from row-major

/// Globals and statistics; the offset, where there is one, comes first.
Rcpp::List state_to_r(const features::FeatureState& state, const features::Rows& rows);
features::Loadings loadings_from_r(const Rcpp::List& state, const features::Rows& rows);

/// Rows and features (from 1, rows as given, features in their present order) and ν.
Rcpp::List presence_to_r(const std::vector<std::shared_ptr<const features::Presence>>& presence,
                         const features::Rows& rows, const std::vector<int>& id);

/// start: a list of `presence` (ν, rows × features), or of `state` with `settled`; NULL: no feature.
features::FeatureState starting_state(const features::FeatureProblem& problem, SEXP start);

}  // namespace bnpvi
