// Tangents of logistic likelihoods, of vectors; part of kernels_impl.h.

/// Of ψ = o + linear, E ψ² = square + o (2 linear + o): c, its root, log 2cosh(c/2) and tanh(c/2) / 2c.
struct TangentLanes {
  Vd psi, log_2cosh, ratio;

  /// One reciprocal serves both: of (2 + f)(1 + e^−c), where 1 + e^−c = 1 + f or 2 (1 + f) with |f| < .42,
  /// and log(1 + f) = f − s (f − series) with s = f / (2 + f) as in log_lanes().
  TangentLanes(Vd offset, Vd linear, Vd square) : psi(linear + offset) {
    const Vd least = psi * psi, size = psi > splat(0) ? psi : splat(0) - psi;
    Vd second = mul_add(offset, linear + psi, square);  // within the range of roots
    second = second > least ? second : least;
    second = second > splat(1e-300) ? second : splat(1e-300);
    second = second < splat(1e300) ? second : splat(1e300);
    const Vd inverse_c = inverse_root_lanes(second), root = second * inverse_c;
    const Vd c = root > size ? root : size;
    const Vd small = exp_lanes(splat(0) - c);
    const Vd half = mul_add(splat(0.5), small, splat(-0.5));
    const Vd f = small > splat(0.41) ? half : small;
    const Vd doubled = small > splat(0.41) ? splat(0x1.62e42fefa39efp-1) : splat(0);
    const Vd two_f = f + splat(2), one_small = small + splat(1);
    const Vd inverse = inverse_lanes(two_f * one_small);
    const Vd s = f * (inverse * one_small), z = s * s, z2 = z * z, z4 = z2 * z2;
    const Vd c1 = mul_add(z, splat(2. / 5), splat(2. / 3)), c3 = mul_add(z, splat(2. / 9), splat(2. / 7));
    const Vd c5 = mul_add(z, splat(2. / 13), splat(2. / 11)), c7 = mul_add(z, splat(2. / 17), splat(2. / 15));
    const Vd c9 = mul_add(z, splat(2. / 21), splat(2. / 19));
    const Vd high = mul_add(z4, mul_add(z2, splat(2. / 23), c9), mul_add(z2, c7, c5));
    const Vd series = z * mul_add(z4, high, mul_add(z2, c3, c1));
    log_2cosh = mul_add(splat(0.5), c, doubled + (f - s * (f - series)));
    // Near 0 the series, the remainder of which is 2e-16.
    const Vd near = polynomial(second, 1. / 4, -1. / 48, 1. / 480);
    const Vd far = splat(0.5) * inverse_c * ((splat(1) - small) * (inverse * two_f));
    ratio = second < splat(1e-4) ? near : far;
  }
};

void logistic_bounds(Index n, const double* m, const double* kappa, const double* constant,
                     const double* offset, const double* linear, const double* square, double* bound,
                     double* omega) {
  for (Index i = 0; i < n; i += lanes) {
    const Index left = n - i;
    const TangentLanes at(load_lanes(offset + i, left), load_lanes(linear + i, left),
                          load_lanes(square + i, left));
    const Vd trials = load_lanes(m + i, left);
    const Vd top = mul_add(load_lanes(kappa + i, left), at.psi, load_lanes(constant + i, left));
    store_lanes(bound + i, top - trials * at.log_2cosh, left);
    store_lanes(omega + i, trials * at.ratio, left);
  }
}

/// Are all of x 0? (Or no numbers.)
inline bool no_lanes(Vd x) {
  constexpr unsigned all = (1u << lanes) - 1;
  return (lanes_not_below(x, splat(0)) & lanes_not_below(splat(0), x)) == all;
}

double logistic_pulls(Index n, const double* m, const double* kappa, const double* offset,
                      const double* linear, const double* bound, const double* omega, const double* r,
                      double* pull, double* mass, double* curve) {
  Vd sums = splat(0);
  for (Index i = 0; i < n; i += lanes) {
    const Index left = n - i;
    const Vd share = load_lanes(r + i, left);
    if (no_lanes(share)) {
      store_lanes(pull + i, splat(0), left);
      store_lanes(mass + i, splat(0), left);
      store_lanes(curve + i, splat(0), left);
      continue;
    }
    const Vd o = load_lanes(offset + i, left), w = load_lanes(omega + i, left);
    const Vd psi = load_lanes(linear + i, left) + o, minus = splat(0) - psi;
    const Vd e = exp_lanes(psi > minus ? minus : psi), one = e + splat(1);
    sums = mul_add(share, load_lanes(bound + i, left), sums);
    store_lanes(pull + i, share * (load_lanes(kappa + i, left) - w * o), left);
    store_lanes(mass + i, share * w, left);
    store_lanes(curve + i, (share * load_lanes(m + i, left)) * (e * inverse_lanes(one * one)), left);
  }
  return sum_lanes(sums);
}

void add_transposed(Index k, Index n, const double* a, Index lda, const double* base, const double* share,
                    double* out) {
  for (Index j = 0; j < k; j += lanes) {
    const Vd from = load_lanes(base + j, k - j), times = load_lanes(share + j, k - j);
    for (Index i = 0; i < n; i += lanes) {
      Vd block[lanes];
      load_transposed(k - j, n - i, a + j * lda + i, lda, block);
      BNPVI_UNROLL
      for (Index l = 0; l < lanes; ++l)
        if (l < n - i) store_lanes(out + (i + l) * k + j, mul_add(times, block[l], from), k - j);
    }
  }
}

void add_product(Index k, Index p, Index n, const double* r, Index ldr, const double* a, Index lda, double* s,
                 Index lds) {
  alignas(64) double panel[max_depth * max_tile_width];
  for_each_panel(p, n, [&](Index t, Index depth, Index j, Index columns, Index n_vectors) {
    pack_rows(depth, columns, n_vectors * lanes, a + t * lda + j, lda, panel);
    multiply_panel<max_tile_vectors, Stored::by_row>(n_vectors, k, depth, r + t, ldr, nullptr, panel, s + j,
                                                     lds, columns, true);
  });
}
