// Logarithms, digamma and log-gamma functions of vectors; part of kernels_impl.h.

/// log x for positive normal x. With x = 2^n m and m near 1, log m = 2 artanh(s), s = f / (2 + f), f = m − 1,
/// by Taylor's series up to s^23 (remainder 4e-19).
inline Vd log_lanes(Vd x) {
  constexpr unsigned long long root_half = 0x3fe6a09e00000000, one = 0x3ff0000000000000;
  Vi bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = bits + (one - root_half);
  const Vi power = (bits >> 52) | 0x4330000000000000;  // 2^52 + 1023 + n
  bits = (bits & 0x000fffffffffffff) + root_half;
  Vd m, n;
  std::memcpy(&m, &bits, sizeof m);
  std::memcpy(&n, &power, sizeof n);
  n = n - splat(0x1p52 + 1023);
  const Vd f = m - splat(1), s = f / (f + splat(2)), z = s * s, z2 = z * z, z4 = z2 * z2;
  const Vd c1 = mul_add(z, splat(2. / 5), splat(2. / 3));
  const Vd c3 = mul_add(z, splat(2. / 9), splat(2. / 7));
  const Vd c5 = mul_add(z, splat(2. / 13), splat(2. / 11));
  const Vd c7 = mul_add(z, splat(2. / 17), splat(2. / 15));
  const Vd c9 = mul_add(z, splat(2. / 21), splat(2. / 19));
  const Vd low = mul_add(z2, c3, c1), high = mul_add(z2, c7, c5);
  const Vd top = mul_add(z2, splat(2. / 23), c9);
  const Vd series = z * mul_add(z4, mul_add(z4, top, high), low);
  return mul_add(n, splat(0x1.62e42fefa38p-1), mul_add(n, splat(0x1.ef35793c7673p-45), f - s * (f - series)));
}

/// The polynomial c_0 + c_1 z + c_2 z² + ... by Horner's rule.
inline Vd polynomial(Vd, double c) { return splat(c); }
template <class... More>
inline Vd polynomial(Vd z, double c, More... higher) {
  return mul_add(z, polynomial(z, higher...), splat(c));
}

/// The product Q = Π_{i<10} (x + i) and its derivative, as functions of q = x (x + 9). They follow from (x +
/// i)(x + 9 − i) = q + i (9 − i).
struct Rising {
  Vd q, value, slope;
};
inline Rising rising_lanes(Vd x) {
  const Vd q = x * (x + splat(9));
  const Vd a = q * (q + splat(8)), da = q + q + splat(8);
  const Vd b = (q + splat(14)) * (q + splat(18)), db = q + q + splat(32);
  const Vd ab = a * b, dab = mul_add(da, b, a * db), last = q + splat(20);
  return {q, ab * last, mul_add(dab, last, ab)};
}

/// What ψ(x) and log Γ(x) have in common, for x > 0. Both use Stirling's series in 1 / y: y = x for x ≥ 10,
/// otherwise y = x + 10, with Γ(x + 10) = Γ(x) Π_{i<10} (x + i).
struct Stirling {
  Vd x, y, log_y, inverse, z;
  Rising rising;

  explicit Stirling(Vd at) : x(at), y(at < splat(10) ? at + splat(10) : at), rising(rising_lanes(at)) {
    log_y = log_lanes(y);
    inverse = splat(1) / y;
    z = inverse * inverse;
  }

  /// The digamma function ψ(x); the remainder of the series is at most 3e-17.
  Vd digamma() const {
    const Vd below = x < splat(10) ? (x + x + splat(9)) * (rising.slope / rising.value) : splat(0);
    const Vd series = polynomial(z, -1. / 12, 1. / 120, -1. / 252, 1. / 240, -1. / 132, 691. / 32760,
                                 -1. / 12, 3617. / 8160);
    return log_y + (z * series - splat(0.5) * inverse) - below;
  }

  Vd log_gamma() const {
    const Vd below = x < splat(10) ? rising.value : splat(1);
    const Vd series =
        polynomial(z, 1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156);
    const Vd half_log_2_pi = splat(0x1.d67f1c864beb5p-1);
    return mul_add(y - splat(0.5), log_y, half_log_2_pi - y) + (inverse * series - log_lanes(below));
  }
};

void digamma_each(Index n, const double* x, double* out) {
  for (Index i = 0; i < n; i += lanes)
    store_lanes(out + i, Stirling(load_lanes(x + i, n - i, 1)).digamma(), n - i);
}

void log_gamma_each(Index n, const double* x, double* out) {
  for (Index i = 0; i < n; i += lanes)
    store_lanes(out + i, Stirling(load_lanes(x + i, n - i, 1)).log_gamma(), n - i);
}

void log_each(Index n, const double* x, double* out) {
  for (Index i = 0; i < n; i += lanes) store_lanes(out + i, log_lanes(load_lanes(x + i, n - i, 1)), n - i);
}

inline Vd positive_lanes(const double* t, Index count) {
  const Vd x = load_lanes(t, count), none = splat(0);
  return x > none ? x : none;
}

double positive_sum(Index n, const double* t) {
  Vd sums = splat(0);
  for (Index i = 0; i < n; i += lanes) sums = sums + positive_lanes(t + i, n - i);
  return sum_lanes(sums);
}

/// Keeps the first `count` lanes, and sets the others to 0.
inline Vd first_or_none(Vd x, Index count) {
  if (count >= lanes) return x;
  double kept[lanes] = {};
  store_lanes(kept, x, count);
  return load(kept);
}

template <bool digammas, bool rising>
inline double of_counts(Index n, const double* a, const double* t, double shift, const double* log_gamma_a,
                        double* out) {
  Vd sums = splat(0);
  for (Index i = 0; i < n; i += lanes) {
    const Stirling x(load_lanes(a + i, n - i, 1) + positive_lanes(t + i, n - i));
    if (digammas) store_lanes(out + i, x.digamma() - splat(shift), n - i);
    if (rising) sums = sums + first_or_none(x.log_gamma() - load_lanes(log_gamma_a + i, n - i), n - i);
  }
  return sum_lanes(sums);
}

void digamma_of_counts(Index n, const double* a, const double* t, double shift, double* out) {
  of_counts<true, false>(n, a, t, shift, nullptr, out);
}

double log_rising_sum(Index n, const double* a, const double* t, const double* log_gamma_a) {
  return of_counts<false, true>(n, a, t, 0, log_gamma_a, nullptr);
}

double digamma_and_rising(Index n, const double* a, const double* t, double shift, const double* log_gamma_a,
                          double* out) {
  return of_counts<true, true>(n, a, t, shift, log_gamma_a, out);
}

double weighted_log_sum(Index n, const double* c, const double* x) {
  Vd sums = splat(0);
  for (Index i = 0; i < n; i += lanes)
    sums = mul_add(load_lanes(c + i, n - i), log_lanes(load_lanes(x + i, n - i, 1)), sums);
  return sum_lanes(sums);
}

void exp_rows(Index n, Index k, const double* w, Index ldw, double* e, Index lde, double* top) {
  for (Index i = 0; i < n; ++i, w += ldw, e += lde) {
    top[i] = max_of_row(k, w);
    exp_row(k, w, top[i], e);
  }
}
