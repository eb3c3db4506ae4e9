// Columns of several kinds: blocks of columns, each with an observation model of its own.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "observations/capabilities.h"

namespace bnpvi {

struct ProductBlock {
  std::string name;
  std::shared_ptr<const ObsModel> model;
};

/// Blocks that are independent given the cluster, with independent priors: p(x | φ_k) = Π_m p_m(x_m | φ_km).
/// The columns of the data are those of the blocks, one after the other. With φ_m∖0 the features of block m
/// without its leading 1,
///   φ = (1, φ_1∖0, ..., φ_M∖0),  Λ(T) = Σ_m Λ_m(T_0, T_m∖0),  w_0 = Σ_m w_m0.
/// Log predictives, log base measures and log hyperpriors are sums over blocks; point estimates are
/// concatenated. Arrays and learned fields have the names <block>.<name>. No block may have a lag. The
/// features of a block are either all dense or, apart from φ_0, all indicators; otherwise
/// std::invalid_argument.
///
/// Every block reads its count from T_0, unless its cells may be missing: then it has a count of its own. A
/// Categorical block has one count for each column in any case, the sum of the column's levels.
std::unique_ptr<ObsModel> make_product(std::vector<ProductBlock> blocks);

}  // namespace bnpvi
