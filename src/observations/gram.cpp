#include "observations/gram.h"

#include <numeric>

#include "kernels/kernels.h"

namespace bnpvi {

namespace {

std::vector<int> first_numbers(Index n) {
  std::vector<int> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

void add_inner_gram(const double* r, Index ld, Index d, double* out) {
  const std::vector<int> rows = first_numbers(d);
  Vec column(static_cast<std::size_t>(d));
  for (Index i = 0; i < d; ++i) {
    for (Index k = i; k < d; ++k) column[k] = r[k * ld + i];
    kernels().add_sparse_rows(d - i, i + 1, rows.data() + i, column.data() + i, r, ld, out + i * d);
  }
}

void add_outer_gram(const double* l, Index d, double* out) {
  const std::vector<int> rows = first_numbers(d);
  Vec transposed(static_cast<std::size_t>(d * d));
  for (Index i = 0; i < d; ++i)
    for (Index k = 0; k <= i; ++k) transposed[k * d + i] = l[i * d + k];
  for (Index i = 0; i < d; ++i)
    kernels().add_sparse_rows(i + 1, i + 1, rows.data(), l + i * d, transposed.data(), d, out + i * d);
}

}  // namespace bnpvi
