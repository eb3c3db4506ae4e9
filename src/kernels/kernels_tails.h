// Latent scales of rows (heavy tails); part of kernels_impl.h, after kernels_special.h.

void scale_log_weights(Index n, Index k, const double* ratio, const double* c, const double* a,
                       double* log_ratio, double* out) {
  for (Index i = 0; i < n; ++i, ratio += k, log_ratio += k, out += k)
    for (Index j = 0; j < k; j += lanes) {
      const Vd log = log_lanes(load_lanes(ratio + j, k - j, 1));
      store_lanes(log_ratio + j, log, k - j);
      store_lanes(out + j, load_lanes(c + j, k - j) - load_lanes(a + j, k - j) * log, k - j);
    }
}

void sum_scales(Index n, Index k, const double* r, const double* ratio, const double* log_ratio,
                double* share, double* sums) {
  const auto add = [k](double* to, Index j, Vd x, Vd y) {
    store_lanes(to + j, mul_add(x, y, load_lanes(to + j, k - j)), k - j);
  };
  const Vd one = splat(1);
  for (Index i = 0; i < n; ++i, r += k, ratio += k, log_ratio += k, share += k)
    for (Index j = 0; j < k; j += lanes) {
      const Vd mass = load_lanes(r + j, k - j), u = one / load_lanes(ratio + j, k - j, 1);
      const Vd log_u = splat(0) - load_lanes(log_ratio + j, k - j), away = u - one;
      store_lanes(share + j, mass * u, k - j);
      add(sums, j, mass, one);
      add(sums + k, j, mass, log_u);
      add(sums + 2 * k, j, mass, log_u - away);
      add(sums + 3 * k, j, mass * away, away);
    }
}
