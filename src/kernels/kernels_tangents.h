// Implements the functions of tangent_kernels.h, quadratic bounds of logistic likelihoods; part of
// kernels_impl.h.

/// First moments of x'b for some rows: linear = E x'b, square = E (x'b)².
struct PredictorLanes {
  Vd linear, square;
};

/// Moments that were computed before.
struct StoredPredictor {
  const double *linear, *square;

  PredictorLanes at(Index i, Index left) const {
    return {load_lanes(linear + i, left), load_lanes(square + i, left)};
  }
};

/// Moments computed from e regressors x (by columns, ldx apart), E b, and E bb' (packed, off-diagonal entries
/// doubled), with coefficients b.
template <Index e>
struct PredictorOfFew {
  const double* x;
  Index ldx;
  Vd mean[e], second[e * (e + 1) / 2];

  PredictorOfFew(const double* x, Index ldx, const double* mean, const double* second) : x(x), ldx(ldx) {
    for (Index v = 0; v < e; ++v) this->mean[v] = splat(mean[v]);
    for (Index v = 0; v < e * (e + 1) / 2; ++v) this->second[v] = splat(second[v]);
  }

  PredictorLanes at(Index i, Index left) const {
    Vd row[e];
    PredictorLanes out{splat(0), splat(0)};
    BNPVI_UNROLL
    for (Index u = 0; u < e; ++u) {
      row[u] = load_lanes(x + u * ldx + i, left);
      out.linear = mul_add(mean[u], row[u], out.linear);
      Vd with = splat(0);
      BNPVI_UNROLL
      for (Index v = 0; v <= u; ++v) with = mul_add(second[u * (u + 1) / 2 + v], row[v], with);
      out.square = mul_add(row[u], with, out.square);
    }
    return out;
  }
};

/// For n rows from row `from` on, with linear predictor ψ = o + l (o: offset), computes
///   expected: E ψ;
///   c: √(E ψ²), the point at which the bound touches the likelihood;
///   inverse_c: 1 / c.
/// c and 1 / c are limited to the range in which roots are exact. With linear = E l and square = E l², E ψ² =
/// square + o (2 linear + o).
template <class Predictor>
inline void tangent_points(Index from, Index n, const double* offset, const Predictor& predictor,
                           double* expected, double* c, double* inverse_c) {
  for (Index l = 0; l < n; l += lanes) {
    const Index i = from + l, left = n - l;
    const PredictorLanes of = predictor.at(i, left);
    const Vd o = load_lanes(offset + i, left), x = of.linear, psi = x + o;
    const Vd least = psi * psi, size = psi > splat(0) ? psi : splat(0) - psi;
    Vd second = mul_add(o, x + psi, of.square);
    second = second > least ? second : least;
    second = second > splat(1e-300) ? second : splat(1e-300);
    second = second < splat(1e300) ? second : splat(1e300);
    const Vd inverse = inverse_root_lanes(second), root = second * inverse;
    store(expected + l, psi);
    store(c + l, root > size ? root : size);
    store(inverse_c + l, inverse);
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

/// Computes the bounds of n rows. Each step is done for some rows before the next step, so that the processor
/// can overlap their work.
template <class Predictor>
inline void bounds_by(Index n, const double* m, const double* kappa, const double* constant,
                      const double* offset, const Predictor& predictor, double* bound, double* omega,
                      double* curve) {
  constexpr Index most = 128;  // rows: a guess
  alignas(64) double expected[most], point[most], inverse[most], small[most];
  for (Index from = 0; from < n; from += most) {
    const Index rows = n - from < most ? n - from : most;
    tangent_points(from, rows, offset, predictor, expected, point, inverse);
    for (Index i = 0; i < rows; i += lanes) store(small + i, exp_lanes(splat(0) - load(point + i)));
    for (Index l = 0; l < rows; l += lanes) {
      const Index i = from + l, left = n - i;
      const TangentLanes at(load(point + l), load(inverse + l), load(small + l));
      const Vd trials = load_lanes(m + i, left);
      const Vd top = mul_add(load_lanes(kappa + i, left), load(expected + l), load_lanes(constant + i, left));
      store_lanes(bound + i, top - trials * at.log_2cosh, left);
      store_lanes(omega + i, trials * at.ratio, left);
      if (curve) store_lanes(curve + i, trials * at.slope, left);
    }
  }
}

/// Implements TangentKernels::bounds.
void logistic_bounds(Index n, const double* m, const double* kappa, const double* constant,
                     const double* offset, const double* linear, const double* square, double* bound,
                     double* omega, double* curve) {
  bounds_by(n, m, kappa, constant, offset, StoredPredictor{linear, square}, bound, omega, curve);
}

template <Index e>
void bounds_of_few(Index n, const double* m, const double* kappa, const double* constant,
                   const double* offset, const double* x, Index ldx, const double* mean, const double* second,
                   double* bound, double* omega) {
  bounds_by(n, m, kappa, constant, offset, PredictorOfFew<e>(x, ldx, mean, second), bound, omega, nullptr);
}

void logistic_pulls(Index n, const double* kappa, const double* offset, const double* bound,
                    const double* omega, const double* curve, const double* r, double* pull, double* r_omega,
                    double* r_curve, double* sums) {
  Vd mass = splat(0), bounds = splat(0);
  for (Index i = 0; i < n; i += lanes) {
    const Index left = n - i;
    const Vd share = load_lanes(r + i, left), w = load_lanes(omega + i, left);
    mass = mass + share;
    bounds = mul_add(share, load_lanes(bound + i, left), bounds);
    store_lanes(pull + i, share * (load_lanes(kappa + i, left) - w * load_lanes(offset + i, left)), left);
    store_lanes(r_omega + i, share * w, left);
    if (curve) store_lanes(r_curve + i, share * load_lanes(curve + i, left), left);
  }
  sums[0] += sum_lanes(mass);
  sums[1] += sum_lanes(bounds);
}

/// Adds the sum of the lanes of each of n vectors to the numbers of out.
template <Index n>
inline void add_sums_of_lanes(const Vd (&v)[n], double* out) {
  for (Index from = 0; from < n; from += lanes) {
    Vd some[lanes];
    BNPVI_UNROLL
    for (Index l = 0; l < lanes; ++l) some[l] = from + l < n ? v[from + l] : splat(0);
    transpose(some);
    Vd sums = load_lanes(out + from, n - from);
    BNPVI_UNROLL
    for (Index l = 0; l < lanes; ++l) sums = sums + some[l];
    store_lanes(out + from, sums, n - from);
  }
}

template <Index e>
void sums_of_few(Index n, const double* kappa, const double* offset, const double* bound, const double* omega,
                 const double* r, const double* x, Index ldx, double* sums) {
  constexpr Index pairs = 2 + e, all = pairs + e * (e + 1) / 2;
  Vd sum[all];  // which stays in registers, as its places are known when this is compiled
  BNPVI_UNROLL
  for (Index v = 0; v < all; ++v) sum[v] = splat(0);
  for (Index i = 0; i < n; i += lanes) {
    const Index left = n - i;
    const Vd share = load_lanes(r + i, left), w = load_lanes(omega + i, left), mass = share * w;
    const Vd pull = share * (load_lanes(kappa + i, left) - w * load_lanes(offset + i, left));
    sum[0] = sum[0] + share;
    sum[1] = mul_add(share, load_lanes(bound + i, left), sum[1]);
    Vd row[e];
    BNPVI_UNROLL
    for (Index u = 0; u < e; ++u) {
      row[u] = load_lanes(x + u * ldx + i, left);
      sum[2 + u] = mul_add(pull, row[u], sum[2 + u]);
      const Vd weighted = mass * row[u];
      BNPVI_UNROLL
      for (Index v = 0; v <= u; ++v) {
        Vd& own = sum[pairs + u * (u + 1) / 2 + v];
        own = mul_add(weighted, row[v], own);
      }
    }
  }
  Vd found[all];
  BNPVI_UNROLL
  for (Index v = 0; v < all; ++v) found[v] = sum[v];
  add_sums_of_lanes(found, sums);
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
