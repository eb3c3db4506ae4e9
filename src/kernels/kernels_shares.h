// Division of counts among clusters (Kernels::share_round and others); part of kernels_impl.h.

/// share = c / s where s > least, else 0, for n counts c. Returns the smallest s.
inline double divide_counts(Index n, const double* c, double least, const double* s, double* share) {
  Vd low = splat(HUGE_VAL);
  for (Index u = 0; u < n; u += lanes) {
    const Vd x = load_lanes(s + u, n - u, HUGE_VAL);
    low = x < low ? x : low;
    store_lanes(share + u, x > splat(least) ? load_lanes(c + u, n - u) / x : splat(0), n - u);
  }
  return -max_lanes(splat(0) - low);
}

/// Some rows of B in the lanes of a vector: rows index[u] .. index[u + lanes − 1]. n rows are listed in all;
/// after the last of them, it is repeated.
struct ListedRows {
  const double* from[lanes];

  ListedRows(Index u, Index n, const int* index, const double* b, Index ldb) {
    BNPVI_UNROLL
    for (Index i = 0; i < lanes; ++i) from[i] = b + index[u + i < n ? u + i : n - 1] * ldb;
  }

  /// The inner products of w (k numbers) with each of these rows, one in each lane.
  Vd dots(Index k, const double* w) const {
    Vd acc[lanes];
    BNPVI_UNROLL
    for (Index i = 0; i < lanes; ++i) acc[i] = splat(0);
    const auto add = [&](Index j, Index count) {
      const Vd wj = load_lanes(w + j, count);
      BNPVI_UNROLL
      for (Index i = 0; i < lanes; ++i) acc[i] = mul_add(wj, load_lanes(from[i] + j, count), acc[i]);
    };
    Index j = 0;
    for (; j + lanes <= k; j += lanes) add(j, lanes);
    if (j < k) add(j, k - j);
    transpose(acc);
    Vd sum = acc[0];
    BNPVI_UNROLL
    for (Index i = 1; i < lanes; ++i) sum = sum + acc[i];
    return sum;
  }

  /// Adds Σ_i x_i row_i to y (k numbers), where lane i of x belongs to the row in lane i.
  void add_to(Index k, Vd x, double* y) const {
    double each[lanes];
    store(each, x);
    const auto add = [&](Index j, Index count) {
      Vd acc = load_lanes(y + j, count);
      BNPVI_UNROLL
      for (Index i = 0; i < lanes; ++i) acc = mul_add(splat(each[i]), load_lanes(from[i] + j, count), acc);
      store_lanes(y + j, acc, count);
    };
    Index j = 0;
    for (; j + lanes <= k; j += lanes) add(j, lanes);
    if (j < k) add(j, k - j);
  }
};

double share_round(Index m, Index n, const int* row, const double* w, const double* g, Index ldg,
                   const double* c, double least, double* s, double* share, double* y) {
  sum_rows<true, false>(m, n, row, w, g, ldg, s);
  const double lowest = divide_counts(n, c, least, s, share);
  for (Index j = 0; j < m; j += lanes)
    store_lanes(y + j, load_lanes(w + j, m - j) * ListedRows(j, m, row, g, ldg).dots(n, share), m - j);
  return lowest;
}

double share_sweep(Index n, Index k, const int* row, const double* w, const double* b, Index ldb,
                   const double* c, double least, double* s, double* share, double* y) {
  for (Index j = 0; j < k; j += lanes) store_lanes(y + j, splat(0), k - j);
  Vd low = splat(HUGE_VAL);
  for (Index u = 0; u < n; u += lanes) {
    const ListedRows rows(u, n, row, b, ldb);
    const Vd sum = rows.dots(k, w);
    const Vd x = sum > splat(least) ? load_lanes(c + u, n - u) / sum : splat(0);
    low = sum < low ? sum : low;
    store_lanes(s + u, sum, n - u);
    store_lanes(share + u, x, n - u);
    rows.add_to(k, x, y);
  }
  for (Index j = 0; j < k; j += lanes)
    store_lanes(y + j, load_lanes(y + j, k - j) * load_lanes(w + j, k - j), k - j);
  return -max_lanes(splat(0) - low);
}

double scale_rows(Index n, Index k, const double* e, Index lde, const double* c, Index ldc, const double* top,
                  double* t, Index ldt) {
  Vd sums = splat(0);
  for (Index i = 0; i < n; ++i, e += lde, c += ldc, t += ldt)
    for (Index j = 0; j < k; j += lanes) {
      const Vd x = load_lanes(t + j, k - j) * load_lanes(e + j, k - j);
      store_lanes(t + j, x, k - j);
      sums = mul_add(x, load_lanes(c + j, k - j) - load_lanes(top + j, k - j), sums);
    }
  return sum_lanes(sums);
}

/// The values w_j G_ju of clusters j in `lanes` consecutive columns u of G.
struct WeightedColumns {
  const int* row;
  const double *w, *g;
  Index ldg, u, count;
  Vd gain(Index j) const { return load_lanes(g + row[j] * ldg + u, count); }
  Vd operator[](Index j) const { return splat(w[j]) * gain(j); }
};

inline Vd larger(Vd a, Vd b) { return a > b ? a : b; }
inline Vd smaller(Vd a, Vd b) { return b > a ? a : b; }

/// Finds the width-th largest of the m ≥ width entries of each column, by insertion into registers (width ≤
/// 8) or into `scratch`.
template <int most>
inline Vd rank_of_columns(Index width, Index m, const WeightedColumns& x, double* scratch) {
  if constexpr (most == 0) {
    for (Index l = 0; l < width; ++l) store(scratch + l * lanes, splat(-1));
    for (Index j = 0; j < m; ++j) {
      Vd in = x[j];
      if (lanes_not_below(load(scratch + (width - 1) * lanes), in) == (1u << lanes) - 1) continue;
      for (Index l = 0; l < width; ++l) {
        const Vd t = load(scratch + l * lanes);
        store(scratch + l * lanes, larger(in, t));
        in = smaller(in, t);
      }
    }
    return load(scratch + (width - 1) * lanes);
  } else {
    if (width != most) return rank_of_columns<most - 1>(width, m, x, scratch);
    Vd t[most];
    BNPVI_UNROLL
    for (int l = 0; l < most; ++l) t[l] = splat(-1);
    for (Index j = 0; j < m; ++j) {
      Vd in = x[j];
      BNPVI_UNROLL
      for (int l = 0; l < most; ++l) {
        const Vd old = t[l];
        t[l] = larger(in, old);
        in = smaller(in, old);
      }
    }
    return t[most - 1];
  }
}

/// Implements Kernels::keep_largest. Keeps all entries that exceed the width-th largest entry of their
/// column. Of the entries that equal it, keeps as many as are needed for `width`, first rows first.
void keep_largest(Index m, Index n, const int* row, const double* w, const double* g, Index ldg, Index width,
                  double* scratch, double* out, Index ldo, unsigned long long* mask, Index ldm) {
  const Vd none = splat(0), one = splat(1);
  for (Index u = 0; u < n; u += lanes) {
    const WeightedColumns x{row, w, g, ldg, u, n - u};
    const Vd least = rank_of_columns<8>(width, m, x, scratch);
    Vd left = splat(static_cast<double>(width));  // how many entries equal to `least` may be kept
    for (Index j = 0; j < m; ++j) left = left - (x[j] > least ? one : none);
    for (Index from = 0; from < m; from += 64) {
      Vi bits = Vi{};
      Vi bit = Vi{} + 1ULL;
      for (Index j = from; j < m && j < from + 64; ++j) {
        const Vd in = x[j], equal = in < least ? none : (in > least ? none : one);
        const Vd taken = in > least ? one : (left > none ? equal : none);
        left = left - equal;
        store_lanes(out + j * ldo + u, taken > none ? x.gain(j) : none, n - u);
        Vd as_double;
        std::memcpy(&as_double, &bit, sizeof bit);
        as_double = taken > none ? as_double : none;
        Vi taken_bit;
        std::memcpy(&taken_bit, &as_double, sizeof bit);
        bits = bits | taken_bit;
        bit = bit + bit;
      }
      unsigned long long each[lanes];
      std::memcpy(each, &bits, sizeof bits);
      for (Index i = 0; i < lanes && i < n - u; ++i) mask[(u + i) * ldm + from / 64] = each[i];
    }
  }
}
