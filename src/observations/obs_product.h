// The model of data frames with columns of several kinds: a product of observation models, each of some
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

/// Makes a product of observation models, its blocks, each of which describes some columns. Blocks are
/// independent given the cluster k, with independent priors: p(x | φ_k) = Π_m p_m(x_m | φ_km). The columns of
/// the data are those of the blocks, one after the other. With φ_m∖0 the features of block m without its
/// leading 1,
///   φ = (1, φ_1∖0, ..., φ_M∖0),  Λ(T) = Σ_m Λ_m(T_0, T_m∖0),  w_0 = Σ_m w_m0.
/// Log predictives, log base measures and log hyperpriors are sums over blocks; point estimates are
/// concatenated. Arrays and learned fields have the names <block>.<name>. No block may depend on earlier rows
/// (lags). The features of a block are either all dense or, apart from φ_0, all indicators; otherwise
/// std::invalid_argument is thrown.
///
/// A block takes its number of rows from T_0, unless its cells may be missing: then it has a count of its
/// own. A Categorical block always has one count for each column, the sum of the column's levels.
std::unique_ptr<ObsModel> make_product(std::vector<ProductBlock> blocks);

}  // namespace bnpvi
