// The parts of a product of observation models, and patterns of missing cells of its rows.
#pragma once
#include <memory>
#include <vector>

#include "observations/obs_product.h"

namespace bnpvi {

struct ProductPart {
  ProductBlock block;
  Index column;  // first of the block's columns in the data
  Index at;      // position of the block's first feature after φ_0 in the product
  Index p;       // number of the block's features, φ_0 included
  Capabilities can;
  std::shared_ptr<const RowEstimates> row_estimates;

  const ObsModel& model() const { return *block.model; }
  bool dense() const { return !can.entries; }
  Index n_cells() const { return can.cells ? can.cells->n_cells() : 0; }
  Dataset columns_of(const Dataset& data) const;

  // read() copies the numbers of this part's features (weights or statistics) from the order of the whole
  // product (`all`) to that of the part's model (`own`). write() copies them back.
  void read(const double* all, double* own) const;
  Vec read(const double* all) const;
  void write(const Vec& own, double* all) const { std::copy(own.begin() + 1, own.end(), all + at); }
};

/// The features of n rows under one part of a product of models, and where they are in the features of the
/// product.
struct PlacedFeatures {
  Index at, p;
  bool far_rows;  // can the block represent rows that are far out (Capabilities)?
  Vec scale;      // φ_0 of each row under this block; below 1 where features() scaled the row towards 0
};

/// Gives each row one first feature φ_0, the least among its parts. φ_0 is below 1 if the row is very far out
/// in a part; the features there are scaled towards 0. The features of the other parts with `far_rows` are
/// then scaled to the common φ_0.
void bring_blocks_near(const std::vector<PlacedFeatures>& blocks, Index n, double* phi, Index ld);

/// The parts of HiddenScales: the number of scales of a row over all parts, and the features phi of a row
/// with the known scales u, those of one part after the other.
Index n_scales_of_parts(const std::vector<ProductPart>& parts);
void give_scales_of_parts(const std::vector<ProductPart>& parts, const double* u, double* phi);

/// Groups the rows that lack cells in any part of a product by the cells that they lack in all parts
/// together.
std::vector<IncompleteRows> incomplete_rows_of_parts(const std::vector<ProductPart>& parts,
                                                     const Dataset& data, const Index* rows, Index n);

/// The pattern of rows that lack the cells `missing`, for the parts with dense features. Parts without a
/// missing cell keep all their features, the others get reduced ones. `parts` must outlive the pattern.
std::unique_ptr<const MissingPattern> make_product_pattern(const std::vector<ProductPart>& parts,
                                                           const MissingCells& missing);

}  // namespace bnpvi
