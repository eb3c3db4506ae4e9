// Conversion of overlapping communities between R's lists and the engine's types.
#pragma once
#include "networks/overlap.h"
#include "r_network.h"

namespace bnpvi {

/// The model of overlapping communities in list(degree, assortative, gamma, alpha, counts, a, b,
/// a_background, b_background, dense). It must outlive the states that start() makes.
struct OverlapModel {
  explicit OverlapModel(const Rcpp::List& model);
  /// The state with these shares of the nodes in communities (n × K), whose attribute `owner`
  /// owners_from_r() reads.
  std::unique_ptr<networks::Overlap> start(const Links& links, const Rcpp::NumericMatrix& share) const;

  ListFields fields;
  LinkModel blocks, background;
};

Rcpp::List overlap_to_r(const networks::Overlap& state);

}  // namespace bnpvi
