// The exponential and softmax; part of kernels_impl.h.

/// exp(x) for x ≤ 709, to 1.1 ulp where the result is a normal number; about 0 where it would be smaller.
/// With x = n log 2 + r and |r| ≤ log(2)/2, exp(r) comes from Taylor's series up to the 13th power (remainder
/// 4e-18); the factor 2^n is assembled from its bits.
inline Vd exp_lanes(Vd x) {
  const Vd lowest = splat(-709), whole = splat(0x1.8p52);  // adding `whole` leaves n in the lowest bits
  x = lowest > x ? lowest : x;
  Vd n = mul_add(x, splat(0x1.71547652b82fep0), whole);
  Vi bits;
  std::memcpy(&bits, &n, sizeof bits);
  bits = (bits + 1023) << 52;
  n = n - whole;
  const Vd r = mul_add(n, splat(-0x1.ef35793c7673p-45), mul_add(n, splat(-0x1.62e42fefa38p-1), x));
  const Vd r2 = r * r, r4 = r2 * r2;
  const Vd c2 = mul_add(r, splat(1. / 6), splat(1. / 2));
  const Vd c4 = mul_add(r, splat(1. / 120), splat(1. / 24));
  const Vd c6 = mul_add(r, splat(1. / 5040), splat(1. / 720));
  const Vd c8 = mul_add(r, splat(1. / 362880), splat(1. / 40320));
  const Vd c10 = mul_add(r, splat(1. / 39916800), splat(1. / 3628800));
  const Vd c12 = mul_add(r, splat(1. / 6227020800), splat(1. / 479001600));
  const Vd high = mul_add(mul_add(r2, c12, c10), r4, mul_add(r2, c8, c6));
  const Vd series = mul_add(mul_add(high, r4, mul_add(r2, c4, c2)), r2, r) + splat(1);
  Vd power;
  std::memcpy(&power, &bits, sizeof power);
  return series * power;
}

inline double max_of_row(Index k, const double* w) {
  constexpr double nothing = -HUGE_VAL;
  Vd top = splat(nothing);
  for (Index j = 0; j < k; j += lanes) {
    const Vd x = load_lanes(w + j, k - j, nothing);
    top = x > top ? x : top;
  }
  const double x = max_lanes(top);
  return x == nothing ? 0 : x;
}

/// Computes out = exp(w − shift) and returns its sum. out may be the same array as w.
inline double exp_row(Index k, const double* w, double shift, double* out) {
  Vd sums = splat(0);
  for (Index j = 0; j < k; j += lanes) {
    const Vd e = exp_lanes(load_lanes(w + j, k - j, -HUGE_VAL) - splat(shift));
    store_lanes(out + j, e, k - j);
    sums = sums + e;
  }
  return sum_lanes(sums);
}

/// The sum of the entries of w that are not below `least`.
inline double kept_sum(Index k, const double* w, double least) {
  Vd sums = splat(0);
  for (Index j = 0; j < k; j += lanes) {
    const Vd e = load_lanes(w + j, k - j);
    sums = sums + (e < splat(least) ? splat(0) : e);
  }
  return sum_lanes(sums);
}

/// Sets entries of w below `least` to 0 and multiplies all others by `scale`.
inline void keep_row(Index k, double* w, double least, double scale) {
  for (Index j = 0; j < k; j += lanes) {
    const Vd e = load_lanes(w + j, k - j);
    store_lanes(w + j, e < splat(least) ? splat(0) : e * splat(scale), k - j);
  }
}

/// Returns Σ e (w − shift) over the entries of e that are not below `least`.
inline double kept_sum_of_products(Index k, const double* e, double least, const double* w, double shift) {
  Vd sums = splat(0);
  for (Index j = 0; j < k; j += lanes) {
    const Vd ej = load_lanes(e + j, k - j), wj = load_lanes(w + j, k - j) - splat(shift);
    sums = sums + (ej < splat(least) ? splat(0) : ej * wj);
  }
  return sum_lanes(sums);
}

/// Computes the softmax of n rows w of k numbers, as Kernels::softmax_rows and responsibility_rows describe.
/// Each step is done for several rows before the next step, so that the processor can overlap their work. A
/// NaN makes its whole row NaN. out: the entropies (r must then not overlap w) or the logarithms of the sums.
template <bool entropies>
void softmax(Index n, Index k, const double* w, Index ldw, double floor, double* r, Index ldr, double* out) {
  constexpr Index max_rows = 16;  // a guess
  double sum[max_rows], least[max_rows], top[max_rows], product[max_rows];
  if (floor < DBL_MIN) floor = DBL_MIN;
  for (Index start = 0; start < n;
       start += max_rows, w += max_rows * ldw, r += max_rows * ldr, out += max_rows) {
    const Index rows = n - start < max_rows ? n - start : max_rows;
    for (Index i = 0; i < rows; ++i) top[i] = max_of_row(k, w + i * ldw);
    for (Index i = 0; i < rows; ++i) sum[i] = exp_row(k, w + i * ldw, top[i], r + i * ldr);
    for (Index i = 0; i < rows; ++i) least[i] = floor * sum[i] > 1 ? 1 : floor * sum[i];
    for (Index i = 0; i < rows; ++i) sum[i] = kept_sum(k, r + i * ldr, least[i]);
    if constexpr (entropies)
      for (Index i = 0; i < rows; ++i)
        product[i] = kept_sum_of_products(k, r + i * ldr, least[i], w + i * ldw, top[i]);
    for (Index i = 0; i < rows; ++i) keep_row(k, r + i * ldr, least[i], sum[i] == 0 ? 0 : 1 / sum[i]);
    for (Index i = 0; i < rows; ++i)
      out[i] = !entropies    ? top[i] + std::log(sum[i])
               : sum[i] == 0 ? 0
                             : std::log(sum[i]) - product[i] / sum[i];
  }
}

void softmax_rows(Index n, Index k, double* w, Index ldw, double floor, double* log_norm) {
  softmax<false>(n, k, w, ldw, floor, w, ldw, log_norm);
}

void responsibility_rows(Index n, Index k, const double* w, Index ldw, double floor, double* r, Index ldr,
                         double* entropy) {
  softmax<true>(n, k, w, ldw, floor, r, ldr, entropy);
}
