// Blocks of a product by their places in it, and rows of which some blocks lack cells.
#pragma once
#include <memory>
#include <vector>

#include "observations/obs_product.h"

namespace bnpvi {

struct ProductPart {
  ProductBlock block;
  Index column;  // the first of its columns
  Index at;      // of its features beside φ_0, the first
  Index p;       // its features, φ_0 included
  Capabilities can;
  std::shared_ptr<const RowEstimates> row_estimates;

  const ObsModel& model() const { return *block.model; }
  bool dense() const { return !can.entries; }
  Index n_cells() const { return can.cells ? can.cells->n_cells() : 0; }
  Dataset columns_of(const Dataset& data) const;

  // Numbers that go with features, between the product's order and the block's own.
  void read(const double* all, double* own) const;
  Vec read(const double* all) const;
  void write(const Vec& own, double* all) const { std::copy(own.begin() + 1, own.end(), all + at); }
};

/// Features of n rows under one block, placed among those of the product.
struct PlacedFeatures {
  Index at, p;
  bool far_rows;  // the block knows rows that are far out
  Vec scale;      // φ_0 of each row, below 1 where the row was brought near
};

/// Rows that are far out for one block are brought near for all that know such rows; fills φ_0.
void bring_blocks_near(const std::vector<PlacedFeatures>& blocks, Index n, double* phi, Index ld);

/// Those of n rows that lack cells in any part, by which cells they lack in all of them.
std::vector<IncompleteRows> incomplete_rows_of_parts(const std::vector<ProductPart>& parts,
                                                     const Dataset& data, const Index* rows, Index n);

/// The dense blocks of rows that lack cells: those that lack none as they are, the others reduced. The parts
/// must outlive it.
std::unique_ptr<const MissingPattern> make_product_pattern(const std::vector<ProductPart>& parts,
                                                           const MissingCells& missing);

}  // namespace bnpvi
