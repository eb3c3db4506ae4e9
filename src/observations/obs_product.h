// The model of data frames with columns of several kinds: a product of observation models, each for some
// columns.
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

/// Makes a product of observation models. Each of them, a block, is the model of some columns. Blocks are
/// independent given the cluster k, with independent priors: p(x | φ_k) = Π_m p_m(x_m | φ_km). The data have
/// the columns of the blocks, one block after the other. With φ_m∖0 the features of block m without their
/// leading 1,
///   φ = (1, φ_1∖0, ..., φ_M∖0),  Λ(T) = Σ_m Λ_m(T_0, T_m∖0),  w_0 = Σ_m w_m0.
/// Log predictives, log base measures and log hyperpriors are sums over blocks; point estimates are
/// concatenated. Arrays and learned fields are named <block>.<name>. The features of a block are all dense
/// or, apart from φ_0, all indicators. Throws std::invalid_argument otherwise, and if a block depends on
/// earlier rows (lags).
///
/// A block takes its number of rows from T_0. But if its cells may be missing, it has a count of its own. A
/// Categorical block always has one count for each column, the sum over the column's levels.
std::unique_ptr<ObsModel> make_product(std::vector<ProductBlock> blocks);

}  // namespace bnpvi
