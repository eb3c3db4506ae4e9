// Kernels of tangent_kernels.h, for quadratic bounds of logistic likelihoods; part of kernels_impl.h.

/// For ψ = offset + linear and E ψ² = square + offset (2 linear + offset): c = √(E ψ²), e^(−c) and log
/// 2cosh(c/2).
struct TangentLanes {
  Vd psi, c, small, log_2cosh;

  TangentLanes(Vd offset, Vd linear, Vd square) : psi(linear + offset) {
    const Vd all = mul_add(offset, linear + psi, square), least = psi * psi;
    c = root_lanes(all > least ? all : least);
    small = exp_lanes(splat(0) - c);
    log_2cosh = mul_add(splat(0.5), c, log_lanes(splat(1) + small));
  }

  /// tanh(c/2) / 2c; near 0 by its series (remainder 2e-16).
  Vd ratio() const {
    const Vd square = c * c;
    const Vd series = polynomial(square, 1. / 4, -1. / 48, 1. / 480);
    const Vd far = (splat(1) - small) / ((splat(1) + small) * (c + c));
    return c < splat(0.01) ? series : far;
  }

  /// e^ψ / (1 + e^ψ)².
  Vd slope() const {
    const Vd minus = splat(0) - psi, e = exp_lanes(psi > minus ? minus : psi), one = splat(1) + e;
    return e / (one * one);
  }
};

void logistic_bounds(Index n, const double* m, const double* kappa, const double* offset,
                     const double* linear, const double* square, double* out) {
  for (Index i = 0; i < n; i += lanes) {
    const Index left = n - i;
    const TangentLanes at(load_lanes(offset + i, left), load_lanes(linear + i, left),
                          load_lanes(square + i, left));
    const Vd bound = load_lanes(kappa + i, left) * at.psi - load_lanes(m + i, left) * at.log_2cosh;
    store_lanes(out + i, bound, left);
  }
}

double logistic_tangents(Index n, const double* m, const double* kappa, const double* offset,
                         const double* linear, const double* square, const double* r, double* pull,
                         double* omega, double* curve) {
  Vd sums = splat(0);
  for (Index i = 0; i < n; i += lanes) {
    const Index left = n - i;
    const Vd o = load_lanes(offset + i, left), k = load_lanes(kappa + i, left),
             trials = load_lanes(m + i, left), mass = load_lanes(r + i, left);
    const TangentLanes at(o, load_lanes(linear + i, left), load_lanes(square + i, left));
    const Vd w = trials * at.ratio(), half = splat(0.5) * w;
    const Vd constant = o * (k - half * o) + half * at.c * at.c - trials * at.log_2cosh;
    sums = mul_add(mass, constant, sums);
    store_lanes(pull + i, mass * (k - w * o), left);
    store_lanes(omega + i, mass * w, left);
    store_lanes(curve + i, mass * trials * at.slope(), left);
  }
  return sum_lanes(sums);
}
