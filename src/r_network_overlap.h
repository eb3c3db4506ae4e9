// Overlapping communities of networks between R's lists and the engine's types.
#pragma once
#include "networks/overlap.h"
#include "r_network.h"

namespace bnpvi {

/// Overlapping communities of a list(degree, assortative, gamma, alpha, counts, a, b, a_background,
/// b_background, dense). Outlives the states that it starts.
struct OverlapModel {
  explicit OverlapModel(const Rcpp::List& model);
  /// From shares of the nodes (n × K), with the attribute `owner` (owners_from_r()).
  std::unique_ptr<networks::Overlap> start(const Links& links, const Rcpp::NumericMatrix& share) const;

  ListFields fields;
  LinkModel blocks, background;
};

Rcpp::List overlap_to_r(const networks::Overlap& state);

}  // namespace bnpvi
