// Implements the functions of tangent_kernels.h, quadratic bounds of logistic likelihoods; part of
// kernels_impl.h.

/// For n rows, computes the point c = √(E ψ²) at which the bound touches the likelihood, and 1 / c; both are
/// limited to the range in which roots are exact. The linear predictor is ψ = o + l with an offset o, so that
/// E ψ² = square + o (2 linear + o), given linear = E l and square = E l².
inline void tangent_points(Index n, const double* offset, const double* linear, const double* square,
                           double* c, double* inverse_c) {
  for (Index i = 0; i < n; i += lanes) {
    const Vd o = load_lanes(offset + i, n - i), x = load_lanes(linear + i, n - i), psi = x + o;
    const Vd least = psi * psi, size = psi > splat(0) ? psi : splat(0) - psi;
    Vd second = mul_add(o, x + psi, load_lanes(square + i, n - i));
    second = second > least ? second : least;
    second = second > splat(1e-300) ? second : splat(1e-300);
    second = second < splat(1e300) ? second : splat(1e300);
    const Vd inverse = inverse_root_lanes(second), root = second * inverse;
    store(c + i, root > size ? root : size);
    store(inverse_c + i, inverse);
  }
}

/// Three functions of c, given u = e^−c: log 2cosh(c/2), tanh(c/2) / 2c, and the slope u / (1 + u)² of the
/// logistic function at c.
struct TangentLanes {
  Vd log_2cosh, ratio, slope;

  /// Computes all three with one reciprocal, that of (u + 5/2)(1 + u): log(1 + u) = log(3/2) + 2 artanh(s)
  /// with s = (u − 1/2) / (u + 5/2), by Taylor's series up to s^19 (remainder 2e-16).
  TangentLanes(Vd c, Vd inverse_c, Vd u) {
    const Vd far = u + splat(2.5), one = u + splat(1);
    const Vd inverse = inverse_lanes(far * one), inverse_one = inverse * far;
    const Vd s = (u - splat(0.5)) * (inverse * one), z = s * s, z2 = z * z, z4 = z2 * z2;
    const Vd c0 = mul_add(z, splat(2. / 3), splat(2)), c2 = mul_add(z, splat(2. / 7), splat(2. / 5));
    const Vd c4 = mul_add(z, splat(2. / 11), splat(2. / 9)), c6 = mul_add(z, splat(2. / 15), splat(2. / 13));
    const Vd c8 = mul_add(z, splat(2. / 19), splat(2. / 17));
    const Vd high = mul_add(z4, c8, mul_add(z2, c6, c4)), series = mul_add(z4, high, mul_add(z2, c2, c0));
    log_2cosh = mul_add(splat(0.5), c, mul_add(s, series, splat(0x1.9f323ecbf984cp-2)));
    slope = u * inverse_one * inverse_one;
    // Near c = 0 by a series whose remainder is 2e-16.
    const Vd near = polynomial(c * c, 1. / 4, -1. / 48, 1. / 480);
    ratio = c < splat(0.01) ? near : splat(0.5) * inverse_c * ((splat(1) - u) * inverse_one);
  }
};

/// Implements TangentKernels::bounds. Each step is done for some rows before the next step, so that the
/// processor can overlap their work.
void logistic_bounds(Index n, const double* m, const double* kappa, const double* constant,
                     const double* offset, const double* linear, const double* square, double* bound,
                     double* omega, double* curve) {
  constexpr Index most = 128;  // rows: a guess
  alignas(64) double point[most], inverse[most], small[most];
  for (Index from = 0; from < n; from += most) {
    const Index rows = n - from < most ? n - from : most;
    tangent_points(rows, offset + from, linear + from, square + from, point, inverse);
    for (Index i = 0; i < rows; i += lanes) store(small + i, exp_lanes(splat(0) - load(point + i)));
    for (Index l = 0; l < rows; l += lanes) {
      const Index i = from + l, left = n - i;
      const TangentLanes at(load(point + l), load(inverse + l), load(small + l));
      const Vd psi = load_lanes(linear + i, left) + load_lanes(offset + i, left);
      const Vd trials = load_lanes(m + i, left);
      const Vd top = mul_add(load_lanes(kappa + i, left), psi, load_lanes(constant + i, left));
      store_lanes(bound + i, top - trials * at.log_2cosh, left);
      store_lanes(omega + i, trials * at.ratio, left);
      if (curve) store_lanes(curve + i, trials * at.slope, left);
    }
  }
}

double logistic_pulls(Index n, const double* kappa, const double* offset, const double* bound,
                      const double* omega, const double* curve, const double* r, double* pull,
                      double* r_omega, double* r_curve) {
  Vd sums = splat(0);
  for (Index i = 0; i < n; i += lanes) {
    const Index left = n - i;
    const Vd share = load_lanes(r + i, left), w = load_lanes(omega + i, left);
    sums = mul_add(share, load_lanes(bound + i, left), sums);
    store_lanes(pull + i, share * (load_lanes(kappa + i, left) - w * load_lanes(offset + i, left)), left);
    store_lanes(r_omega + i, share * w, left);
    if (curve) store_lanes(r_curve + i, share * load_lanes(curve + i, left), left);
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
