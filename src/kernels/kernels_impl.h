// The numerical inner loops, written once over a vector type. Include this file inside an anonymous
// namespace, after defining
//   Vd, Vi               vectors of `lanes` doubles and unsigned 64-bit integers;
//   load, store          of whole vectors;
//   load_part            loads the first `count` < lanes lanes and fills the others;
//   store_part           stores the first `count` < lanes lanes and leaves the rest of the memory alone;
//   splat, mul_add       a vector of equal entries; a b + c;
//   transpose            of lanes × lanes entries;
//   inverse_lanes        1 / x, for x other than 0;
//   inverse_root_lanes   1 / √x, for x above 0;
//   lanes_not_below      bit i is set unless lane i of a is less than lane i of b;
//   version              the name of the version;
//   max_tile_rows, max_tile_vectors   the size of a register tile.
// This file and the files it includes have no include guard and no standard header: they become a part of the
// file that includes them.

#if defined(__GNUC__)
#define BNPVI_UNROLL _Pragma("GCC unroll 16")
#define BNPVI_PREFETCH(address) __builtin_prefetch(address, 1)
inline int lowest_bit(unsigned long long x) { return __builtin_ctzll(x); }
#else
#define BNPVI_UNROLL
#define BNPVI_PREFETCH(address) (void)(address)
inline int lowest_bit(unsigned long long x) {
  int i = 0;
  for (; (x & 1) == 0; x >>= 1) ++i;
  return i;
}
#endif

inline Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

inline Vd load_lanes(const double* x, Index count, double fill = 0) {
  return count >= lanes ? load(x) : load_part(x, count, splat(fill));
}

inline void store_lanes(double* x, Vd v, Index count) {
  if (count >= lanes)
    store(x, v);
  else
    store_part(x, v, count);
}

/// Combines all lanes of v into one number by `join`: first lanes at a distance of half the width, then of a
/// quarter, and so on.
template <class Join>
inline double fold_lanes(Vd v, Join join) {
  double x[lanes];
  store(x, v);
  BNPVI_UNROLL
  for (Index width = lanes / 2; width > 0; width /= 2) {
    BNPVI_UNROLL
    for (Index i = 0; i < width; ++i) x[i] = join(x[i], x[i + width]);
  }
  return x[0];
}

inline double sum_lanes(Vd v) {
  return fold_lanes(v, [](double a, double b) { return a + b; });
}

inline double max_lanes(Vd v) {
  return fold_lanes(v, [](double a, double b) { return a < b ? b : a; });
}

#include "kernels/kernels_products.h"
#include "kernels/kernels_rows.h"
#include "kernels/kernels_select.h"
#include "kernels/kernels_shares.h"
#include "kernels/kernels_softmax.h"
#include "kernels/kernels_special.h"
#include "kernels/kernels_tails.h"

#include "kernels/kernels_effects.h"  // after kernels_special.h, whose logarithms it needs
#include "kernels/kernels_tangents.h"

constexpr KernelVersion table = {
    {
        version,           product_nt,          packed_size,        pack,
        product_packed,    selected_product_nt, dot_rows,           add_product_tn,
        transpose_rows,    packed_outer,        softmax_rows,       responsibility_rows,
        add_sparse_rows,   scatter_sparse_rows, weigh_rows,         largest_rows,
        largest_from,      forward_step,        backward_step,      exp_rows,
        log_each,          digamma_each,        log_gamma_each,     positive_sum,
        digamma_of_counts, log_rising_sum,      digamma_and_rising, weighted_log_sum,
        share_round,       share_sweep,         scale_rows,         keep_largest,
        scale_log_weights, sum_scales,
    },
    {logistic_bounds,
     logistic_pulls,
     {bounds_of_few<1>, bounds_of_few<2>, bounds_of_few<3>, bounds_of_few<4>},
     {sums_of_few<1>, sums_of_few<2>, sums_of_few<3>, sums_of_few<4>},
     add_transposed,
     add_product},
    {effects_of<1>, effects_of<2>, effects_of<3>, effects_of<4>, effects_of<5>}};

#undef BNPVI_UNROLL
#undef BNPVI_PREFETCH
