// Rounds of the local step of a document; part of kernels_impl.h.

/// share = c / s where s > least, else 0. Returns the smallest s.
inline double divide_counts(Index n, const double* c, double least, const double* s, double* share) {
  Vd low = splat(HUGE_VAL);
  for (Index u = 0; u < n; u += lanes) {
    const Vd x = load_lanes(s + u, n - u, HUGE_VAL);
    low = x < low ? x : low;
    store_lanes(share + u, x > splat(least) ? load_lanes(c + u, n - u) / x : splat(0), n - u);
  }
  return -max_lanes(splat(0) - low);
}

/// y_j = w_j ⟨x, G_row(j)⟩ for `rows` rows at once.
template <int rows>
inline void weighted_dots(Index n, const int* row, const double* w, const double* g, Index ldg,
                          const double* x, double* y) {
  Vd acc[rows];
  const double* from[rows];
  BNPVI_UNROLL
  for (int j = 0; j < rows; ++j) {
    acc[j] = splat(0);
    from[j] = g + row[j] * ldg;
  }
  for (Index u = 0; u < n; u += lanes) {
    const Vd xu = load_lanes(x + u, n - u);
    BNPVI_UNROLL
    for (int j = 0; j < rows; ++j) acc[j] = mul_add(xu, load_lanes(from[j] + u, n - u), acc[j]);
  }
  BNPVI_UNROLL
  for (int j = 0; j < rows; ++j) y[j] = w[j] * sum_lanes(acc[j]);
}

double document_round(Index m, Index n, const int* row, const double* w, const double* g, Index ldg,
                      const double* c, double least, double* s, double* share, double* y) {
  sum_rows<true, false>(m, n, row, w, g, ldg, s);
  const double lowest = divide_counts(n, c, least, s, share);
  Index j = 0;
  for (; j + 4 <= m; j += 4) weighted_dots<4>(n, row + j, w + j, g, ldg, share, y + j);
  for (; j < m; ++j) weighted_dots<1>(n, row + j, w + j, g, ldg, share, y + j);
  return lowest;
}

/// s_i = ⟨w, B_row(i)⟩ for `rows` rows at once.
template <int rows>
inline void row_dots(Index k, const int* row, const double* w, const double* b, Index ldb, double* s) {
  Vd acc[rows];
  BNPVI_UNROLL
  for (int i = 0; i < rows; ++i) acc[i] = splat(0);
  for (Index j = 0; j < k; j += lanes) {
    const Vd wj = load_lanes(w + j, k - j);
    BNPVI_UNROLL
    for (int i = 0; i < rows; ++i) acc[i] = mul_add(wj, load_lanes(b + row[i] * ldb + j, k - j), acc[i]);
  }
  BNPVI_UNROLL
  for (int i = 0; i < rows; ++i) s[i] = sum_lanes(acc[i]);
}

/// y += Σ_i x_i B_row(i) for `rows` rows at once.
template <int rows>
inline void add_rows(Index k, const int* row, const double* x, const double* b, Index ldb, double* y) {
  for (Index j = 0; j < k; j += lanes) {
    Vd acc = load_lanes(y + j, k - j);
    BNPVI_UNROLL
    for (int i = 0; i < rows; ++i) acc = mul_add(splat(x[i]), load_lanes(b + row[i] * ldb + j, k - j), acc);
    store_lanes(y + j, acc, k - j);
  }
}

/// `rows` words of document_sweep; returns their smallest s.
template <int rows>
inline double sweep_words(Index k, const int* row, const double* w, const double* b, Index ldb,
                          const double* c, double least, double* s, double* share, double* y) {
  row_dots<rows>(k, row, w, b, ldb, s);
  const double lowest = divide_counts(rows, c, least, s, share);
  add_rows<rows>(k, row, share, b, ldb, y);
  return lowest;
}

double document_sweep(Index n, Index k, const int* row, const double* w, const double* b, Index ldb,
                      const double* c, double least, double* s, double* share, double* y) {
  for (Index j = 0; j < k; j += lanes) store_lanes(y + j, splat(0), k - j);
  double lowest = HUGE_VAL;
  for (Index u = 0; u < n;) {
    const bool four = u + 4 <= n;
    const double low = four ? sweep_words<4>(k, row + u, w, b, ldb, c + u, least, s + u, share + u, y)
                            : sweep_words<1>(k, row + u, w, b, ldb, c + u, least, s + u, share + u, y);
    lowest = low < lowest ? low : lowest;
    u += four ? 4 : 1;
  }
  for (Index j = 0; j < k; j += lanes)
    store_lanes(y + j, load_lanes(y + j, k - j) * load_lanes(w + j, k - j), k - j);
  return lowest;
}

/// The largest `width` of each column by insertion, one column a lane; then those above the least of them,
/// and the first of those that equal it.
void keep_largest(Index m, Index n, const int* row, const double* w, const double* g, Index ldg, Index width,
                  double* scratch, double* out, Index ldo, unsigned long long* mask, Index ldm) {
  const Vd none = splat(0), one = splat(1);
  for (Index u = 0; u < n; u += lanes) {
    const Index count = n - u;
    for (Index l = 0; l < width; ++l) store(scratch + l * lanes, splat(-1));
    for (Index j = 0; j < m; ++j) {
      Vd x = splat(w[j]) * load_lanes(g + row[j] * ldg + u, count);
      if (lanes_not_below(load(scratch + (width - 1) * lanes), x) == (1u << lanes) - 1) continue;
      for (Index l = 0; l < width; ++l) {
        const Vd t = load(scratch + l * lanes);
        store(scratch + l * lanes, x > t ? x : t);
        x = x > t ? t : x;
      }
    }
    const Vd least = load(scratch + (width - 1) * lanes);
    Vd left = splat(static_cast<double>(width));
    for (Index j = 0; j < m; ++j) {
      const Vd x = splat(w[j]) * load_lanes(g + row[j] * ldg + u, count);
      left = left - (x > least ? one : none);
    }
    for (Index from = 0; from < m; from += 64) {
      Vi bits = {};
      for (Index j = from; j < m && j < from + 64; ++j) {
        const Vd gj = load_lanes(g + row[j] * ldg + u, count), x = splat(w[j]) * gj;
        const Vd equal = x > least ? none : (x < least ? none : one);
        const Vd taken = x > least ? one : (left > none ? equal : none);
        left = left - equal;
        store_lanes(out + j * ldo + u, taken > none ? gj : none, count);
        Vi bit = Vi{} + (1ULL << (j - from));
        Vd as_double;
        std::memcpy(&as_double, &bit, sizeof bit);
        as_double = taken > none ? as_double : none;
        std::memcpy(&bit, &as_double, sizeof bit);
        bits = bits | bit;
      }
      unsigned long long each[lanes];
      std::memcpy(each, &bits, sizeof bits);
      for (Index i = 0; i < lanes && i < count; ++i) mask[(u + i) * ldm + from / 64] = each[i];
    }
  }
}
