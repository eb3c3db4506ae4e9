// Positions of the features of rows with scales.
#include <stdexcept>

#include "observations/scaled_rows.h"

namespace bnpvi {

ScaledLayout::ScaledLayout(std::vector<std::shared_ptr<const WishartModel>> blocks)
    : block(std::move(blocks)), p(squares) {
  for (const auto& b : block) {
    if (b->offset() != 1) throw std::invalid_argument("internal error: a block that begins with its count");
    at.push_back(p);
    p += b->n_features() - 1;
    coordinates += b->coordinates();
    responses += b->coordinates() - b->regressors();
  }
  log_scale = p;
  entropy = p + 1;
  visited = p + 2;
  p += 5;
}

Vec ScaledLayout::of_block(std::size_t b, const double* t, Index first) const {
  Vec out{t[first]};
  out.insert(out.end(), t + at[b], t + at[b] + block[b]->n_features() - 1);
  return out;
}

Dataset ScaledLayout::columns_of(std::size_t b, const Dataset& data) const {
  if (data.sparse()) throw std::invalid_argument("this observation model needs dense data");
  Dataset out;
  out.n = data.n;
  out.d = block[b]->n_columns();
  Index before = 0;
  for (std::size_t i = 0; i < b; ++i) before += block[i]->n_columns();
  out.dense = data.dense + before * data.n;
  return out;
}

}  // namespace bnpvi
