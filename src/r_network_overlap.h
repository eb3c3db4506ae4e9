// Conversion of overlapping communities between R's lists and the engine's types.
#pragma once
#include "networks/overlap.h"
#include "r_network.h"

namespace bnpvi {

/// The model of overlapping communities, read from list(degree, assortative, gamma, alpha, counts, a, b,
/// a_background, b_background, dense). It must outlive the states that start() makes.
struct OverlapModel {
  explicit OverlapModel(const Rcpp::List& model);
  /// The state that starts from `share`, the proportions of each of n nodes in K communities (n × K). Its
  /// attribute `owner` gives the classes that own communities (owners_from_r()).
  std::unique_ptr<networks::Overlap> start(const Links& links, const Rcpp::NumericMatrix& share) const;

  ListFields fields;
  LinkModel blocks, background;
};

Rcpp::List overlap_to_r(const networks::Overlap& state);

}  // namespace bnpvi
