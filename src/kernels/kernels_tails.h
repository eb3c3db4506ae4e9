// Latent scales of rows, for heavy-tailed distributions; part of kernels_impl.h, after kernels_special.h.

void scale_log_weights(Index n, Index k, const double* ratio, const double* c, const double* a,
                       double* log_ratio, double* out) {
  for (Index i = 0; i < n; ++i, ratio += k, log_ratio += k, out += k)
    for (Index j = 0; j < k; j += lanes) {
      const Vd log = log_lanes(load_lanes(ratio + j, k - j, 1));
      store_lanes(log_ratio + j, log, k - j);
      store_lanes(out + j, load_lanes(c + j, k - j) - load_lanes(a + j, k - j) * log, k - j);
    }
}

// sum_scales() for `vectors` vectors of columns from column j on. Their sums stay in registers from row to
// row.
template <Index vectors>
void sum_scales_of(Index n, Index k, Index j, const double* r, const double* ratio, const double* log_ratio,
                   double* share, double* sums) {
  const Vd one = splat(1);
  Vd mass[vectors], log_u[vectors], away[vectors], square[vectors];
  BNPVI_UNROLL
  for (Index v = 0; v < vectors; ++v) {
    const Index at = j + v * lanes, left = k - at;
    mass[v] = load_lanes(sums + at, left);
    log_u[v] = load_lanes(sums + k + at, left);
    away[v] = load_lanes(sums + 2 * k + at, left);
    square[v] = load_lanes(sums + 3 * k + at, left);
  }
  for (Index i = 0; i < n; ++i) {
    BNPVI_UNROLL
    for (Index v = 0; v < vectors; ++v) {
      const Index left = k - j - v * lanes, at = i * k + j + v * lanes;
      const Vd own = load_lanes(r + at, left), u = one / load_lanes(ratio + at, left, 1);
      const Vd logs = splat(0) - load_lanes(log_ratio + at, left), from_one = u - one;
      store_lanes(share + at, own * u, left);
      mass[v] = mass[v] + own;
      log_u[v] = mul_add(own, logs, log_u[v]);
      away[v] = mul_add(own, logs - from_one, away[v]);
      square[v] = mul_add(own * from_one, from_one, square[v]);
    }
  }
  BNPVI_UNROLL
  for (Index v = 0; v < vectors; ++v) {
    const Index at = j + v * lanes, left = k - at;
    store_lanes(sums + at, mass[v], left);
    store_lanes(sums + k + at, log_u[v], left);
    store_lanes(sums + 2 * k + at, away[v], left);
    store_lanes(sums + 3 * k + at, square[v], left);
  }
}

// Implements Kernels::sum_scales. share and log_ratio may be the same array.
void sum_scales(Index n, Index k, const double* r, const double* ratio, const double* log_ratio,
                double* share, double* sums) {
  Index j = 0;
  for (; j + 2 * lanes <= k; j += 2 * lanes) sum_scales_of<2>(n, k, j, r, ratio, log_ratio, share, sums);
  for (; j < k; j += lanes) sum_scales_of<1>(n, k, j, r, ratio, log_ratio, share, sums);
}
