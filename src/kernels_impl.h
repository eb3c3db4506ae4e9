// The kernels, written once over a vector type. Include inside an anonymous namespace, after defining
//   Vd, Vi (vectors of `lanes` doubles and unsigned 64-bit integers), load, store, load_part, store_part
//   (the first `count` < lanes lanes, the others filled or left alone), splat, mul_add, transpose
//   (lanes × lanes), version (the name), max_tile_rows and max_tile_vectors (the size of a register tile).
// No include guard and no includes: everything here belongs to the one file that includes it.
//
// Both products are sums over `depth` of outer products (a column of X) × (a row of a packed panel),
// held in registers. An entry of the result is summed in the order of depth, whatever the tile, so that
// it depends on its own row and column only.

#if defined(__GNUC__)
#define BNPVI_UNROLL _Pragma("GCC unroll 16")
#define BNPVI_PREFETCH(address) __builtin_prefetch(address, 1)
#else
#define BNPVI_UNROLL
#define BNPVI_PREFETCH(address) (void)(address)
#endif

constexpr Index max_tile_width = max_tile_vectors * lanes;
constexpr Index max_depth = 192;

inline Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

inline Vd load_lanes(const double* x, Index count, double fill = 0) {
  return count >= lanes ? load(x) : load_part(x, count, splat(fill));
}

inline void store_lanes(double* x, Vd v, Index count) {
  if (count >= lanes)
    store(x, v);
  else
    store_part(x, v, count);
}

inline double sum_lanes(Vd v) {
  double x[lanes];
  store(x, v);
  BNPVI_UNROLL
  for (Index width = lanes / 2; width > 0; width /= 2) {
    BNPVI_UNROLL
    for (Index i = 0; i < width; ++i) x[i] += x[i + width];
  }
  return x[0];
}

/// One register tile: out (rows × columns) = or += X · panel, where X is rows × depth. by_row: X is stored
/// with rows `ldx` apart; otherwise its transpose is.
template <int rows, int vectors, bool by_row>
void multiply_tile(Index depth, const double* x, Index ldx, const double* panel, double* out, Index ldo,
                   Index columns, bool add) {
  Vd acc[rows][vectors];
  BNPVI_UNROLL
  for (int i = 0; i < rows; ++i) {
    BNPVI_UNROLL
    for (int v = 0; v < vectors; ++v) {
      acc[i][v] = splat(0);
      if (!by_row && v * lanes % 8 == 0) BNPVI_PREFETCH(out + i * ldo + v * lanes);
    }
  }
  const Index row_step = by_row ? ldx : 1, depth_step = by_row ? 1 : ldx;
  for (Index t = 0; t < depth; ++t) {
    Vd b[vectors];
    BNPVI_UNROLL
    for (int v = 0; v < vectors; ++v) b[v] = load(panel + v * lanes);
    BNPVI_UNROLL
    for (int i = 0; i < rows; ++i) {
      const Vd xi = splat(x[i * row_step]);
      BNPVI_UNROLL
      for (int v = 0; v < vectors; ++v) acc[i][v] = mul_add(xi, b[v], acc[i][v]);
    }
    x += depth_step;
    panel += vectors * lanes;
  }
  BNPVI_UNROLL
  for (int i = 0; i < rows; ++i) {
    BNPVI_UNROLL
    for (int v = 0; v < vectors; ++v) {
      double* o = out + i * ldo + v * lanes;
      const Index count = columns - v * lanes;
      store_lanes(o, add ? load_lanes(o, count) + acc[i][v] : acc[i][v], count);
    }
  }
}

template <int rows, int vectors, bool by_row>
void multiply_rows(Index n_rows, Index depth, const double* x, Index ldx, const double* panel, double* out,
                   Index ldo, Index columns, bool add) {
  if constexpr (rows > 0) {
    if (n_rows == rows)
      multiply_tile<rows, vectors, by_row>(depth, x, ldx, panel, out, ldo, columns, add);
    else
      multiply_rows<rows - 1, vectors, by_row>(n_rows, depth, x, ldx, panel, out, ldo, columns, add);
  }
}

/// All rows of X times one packed panel, in register tiles of nearly equal height.
template <int vectors, bool by_row>
void multiply_panel(Index n_vectors, Index n, Index depth, const double* x, Index ldx, const double* panel,
                    double* out, Index ldo, Index columns, bool add) {
  if constexpr (vectors > 0) {
    if (n_vectors < vectors)
      return multiply_panel<vectors - 1, by_row>(n_vectors, n, depth, x, ldx, panel, out, ldo, columns, add);
    for (Index i = 0, tiles = ceil_div(n, max_tile_rows); tiles > 0; --tiles) {
      const Index height = ceil_div(n - i, tiles);
      multiply_rows<max_tile_rows, vectors, by_row>(height, depth, x + (by_row ? i * ldx : i), ldx, panel,
                                                    out + i * ldo, ldo, columns, add);
      i += height;
    }
  }
}

/// panel (depth × width) = the transpose of `columns` rows of B, padded with zeros.
void pack_transposed(Index depth, Index columns, Index width, const double* b, Index ldb, double* panel) {
  for (Index j = 0; j < width; j += lanes) {
    for (Index t = 0; t < depth; t += lanes) {
      Vd block[lanes];
      const Index count = depth - t;
      BNPVI_UNROLL
      for (Index i = 0; i < lanes; ++i)
        block[i] = j + i < columns ? load_lanes(b + (j + i) * ldb + t, count) : splat(0);
      transpose(block);
      BNPVI_UNROLL
      for (Index i = 0; i < lanes; ++i)
        if (i < count) store(panel + (t + i) * width + j, block[i]);
    }
  }
}

/// panel (depth × width) = `columns` columns of A, padded with zeros.
void pack_rows(Index depth, Index columns, Index width, const double* a, Index lda, double* panel) {
  for (Index t = 0; t < depth; ++t)
    for (Index j = 0; j < width; j += lanes)
      store(panel + t * width + j, load_lanes(a + t * lda + j, columns - j));
}

/// out (n × m) = or += X · Y, where Y (total × m) is given by rows of its transpose (packed by
/// pack_transposed, X by rows) or by its own rows (X by columns).
template <bool by_row>
void multiply(Index n, Index m, Index total, const double* x, Index ldx, const double* y, Index ldy,
              double* out, Index ldo, bool add) {
  alignas(64) double panel[max_depth * max_tile_width];
  Index t = 0;
  for (Index chunks = ceil_div(total, max_depth); chunks > 0; --chunks) {
    const Index depth = ceil_div(total - t, chunks);
    Index j = 0;
    for (Index panels = ceil_div(m, max_tile_width); panels > 0; --panels) {
      const Index n_vectors = ceil_div(ceil_div(m - j, lanes), panels);
      const Index width = n_vectors * lanes, columns = m - j < width ? m - j : width;
      if (by_row)
        pack_transposed(depth, columns, width, y + j * ldy + t, ldy, panel);
      else
        pack_rows(depth, columns, width, y + t * ldy + j, ldy, panel);
      multiply_panel<max_tile_vectors, by_row>(n_vectors, n, depth, x + (by_row ? t : t * ldx), ldx, panel,
                                               out + j, ldo, columns, add || t > 0);
      j += columns;
    }
    t += depth;
  }
}

void product_nt(Index n, Index k, Index p, const double* a, Index lda, const double* b, Index ldb, double* c,
                Index ldc) {
  if (p == 0)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < k; ++j) c[i * ldc + j] = 0;
  multiply<true>(n, k, p, a, lda, b, ldb, c, ldc, false);
}

void add_product_tn(Index n, Index k, Index p, const double* r, Index ldr, const double* a, Index lda,
                    double* s, Index lds) {
  multiply<false>(k, p, n, r, ldr, a, lda, s, lds, true);
}

void packed_outer(Index n, Index m, const double* v, Index ldv, double* out, Index ldo) {
  const Index careful = m - m % lanes;  // before that row, whole vectors run only into entries written later
  for (Index i = 0; i < n; ++i) {
    const double* x = v + i * ldv;
    double* o = out + i * ldo;
    for (Index j = 0; j < careful; ++j) {
      const Vd xj = splat(x[j]);
      for (Index l = 0; l <= j; l += lanes) store(o + l, xj * load(x + l));
      o += j + 1;
    }
    for (Index j = careful; j < m; ++j) {
      const Vd xj = splat(x[j]);
      for (Index l = 0; l < careful; l += lanes) store(o + l, xj * load(x + l));
      store_part(o + careful, xj * load_part(x + careful, j + 1 - careful, splat(0)), j + 1 - careful);
      o += j + 1;
    }
  }
}

/// exp(x) for x ≤ 709 to 1 ulp, 0 below the normal numbers: x = n log 2 + r, Taylor's series of exp(r) for
/// |r| ≤ log(2)/2 to the 13th power (remainder 4e-18), times 2^n assembled from its bits.
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
  double x[lanes];
  store(x, top);
  BNPVI_UNROLL
  for (Index width = lanes / 2; width > 0; width /= 2) {
    BNPVI_UNROLL
    for (Index i = 0; i < width; ++i) x[i] = x[i] < x[i + width] ? x[i + width] : x[i];
  }
  return x[0] == nothing ? 0 : x[0];
}

/// w ← exp(w − shift), returns its sum.
inline double exp_row(Index k, double* w, double shift) {
  Vd sums = splat(0);
  for (Index j = 0; j < k; j += lanes) {
    const Vd e = exp_lanes(load_lanes(w + j, k - j, -HUGE_VAL) - splat(shift));
    store_lanes(w + j, e, k - j);
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

/// Entries of w below `least` become 0, the others are multiplied by `scale`.
inline void keep_row(Index k, double* w, double least, double scale) {
  for (Index j = 0; j < k; j += lanes) {
    const Vd e = load_lanes(w + j, k - j);
    store_lanes(w + j, e < splat(least) ? splat(0) : e * splat(scale), k - j);
  }
}

/// Step by step over a few rows, so that the processor can overlap rows.
void softmax_rows(Index n, Index k, double* w, Index ldw, double floor, double* log_norm) {
  constexpr Index max_rows = 16;
  double sum[max_rows], least[max_rows];
  for (Index start = 0; start < n; start += max_rows, w += max_rows * ldw, log_norm += max_rows) {
    const Index rows = n - start < max_rows ? n - start : max_rows;
    for (Index i = 0; i < rows; ++i) log_norm[i] = max_of_row(k, w + i * ldw);
    for (Index i = 0; i < rows; ++i) sum[i] = exp_row(k, w + i * ldw, log_norm[i]);
    for (Index i = 0; i < rows; ++i) least[i] = floor * sum[i] < 1 ? floor * sum[i] : 1;
    if (floor > 0)
      for (Index i = 0; i < rows; ++i) sum[i] = kept_sum(k, w + i * ldw, least[i]);
    for (Index i = 0; i < rows; ++i) keep_row(k, w + i * ldw, least[i], sum[i] == 0 ? 0 : 1 / sum[i]);
    for (Index i = 0; i < rows; ++i) log_norm[i] += std::log(sum[i]);
  }
}

/// y (columns) = or += Σ_i x_i B_row(i); row(i) = index[i] or just i.
template <int vectors, bool indexed, bool add>
void sum_rows_panel(Index n_vectors, Index n, Index columns, const int* index, const double* x,
                    const double* b, Index ldb, double* y) {
  if constexpr (vectors > 0) {
    if (n_vectors < vectors)
      return sum_rows_panel<vectors - 1, indexed, add>(n_vectors, n, columns, index, x, b, ldb, y);
    constexpr Index last = (vectors - 1) * lanes;
    Vd acc[vectors];
    BNPVI_UNROLL
    for (int v = 0; v < vectors; ++v)
      acc[v] = add ? load_lanes(y + v * lanes, columns - v * lanes) : splat(0);
    for (Index i = 0; i < n; ++i) {
      const double* row = b + (indexed ? index[i] : i) * ldb;
      const Vd xi = splat(x[i]);
      BNPVI_UNROLL
      for (int v = 0; v + 1 < vectors; ++v) acc[v] = mul_add(xi, load(row + v * lanes), acc[v]);
      acc[vectors - 1] = mul_add(xi, load_lanes(row + last, columns - last), acc[vectors - 1]);
    }
    BNPVI_UNROLL
    for (int v = 0; v < vectors; ++v) store_lanes(y + v * lanes, acc[v], columns - v * lanes);
  }
}

template <bool indexed, bool add>
void sum_rows(Index n, Index k, const int* index, const double* x, const double* b, Index ldb, double* y) {
  Index j = 0;
  for (Index panels = ceil_div(k, 8 * lanes); panels > 0; --panels) {
    const Index n_vectors = ceil_div(ceil_div(k - j, lanes), panels), width = n_vectors * lanes;
    const Index columns = k - j < width ? k - j : width;
    sum_rows_panel<8, indexed, add>(n_vectors, n, columns, index, x, b + j, ldb, y + j);
    j += columns;
  }
}

void add_sparse_rows(Index nnz, Index k, const int* index, const double* x, const double* b, Index ldb,
                     double* y) {
  sum_rows<true, true>(nnz, k, index, x, b, ldb, y);
}

void scatter_sparse_rows(Index nnz, Index k, const int* index, const double* x, const double* r, double* b,
                         Index ldb) {
  for (Index i = 0; i < nnz; ++i) {
    double* row = b + index[i] * ldb;
    const Vd xi = splat(x[i]);
    for (Index j = 0; j < k; j += lanes)
      store_lanes(row + j, mul_add(xi, load_lanes(r + j, k - j), load_lanes(row + j, k - j)), k - j);
  }
}

double forward_step(Index k, const double* a, const double* p, Index ldp, const double* e, double* out) {
  sum_rows<false, false>(k, k, nullptr, a, p, ldp, out);
  Vd sums = splat(0);
  for (Index j = 0; j < k; j += lanes)
    sums = mul_add(load_lanes(out + j, k - j), load_lanes(e + j, k - j), sums);
  const double sum = sum_lanes(sums);
  const Vd scale = splat(sum == 0 ? 0 : 1 / sum);
  for (Index j = 0; j < k; j += lanes)
    store_lanes(out + j, load_lanes(out + j, k - j) * load_lanes(e + j, k - j) * scale, k - j);
  return sum;
}

void backward_step(Index k, const double* b, const double* pt, Index ldp, double scale, double* e,
                   double* out) {
  for (Index j = 0; j < k; j += lanes)
    store_lanes(e + j, load_lanes(e + j, k - j) * load_lanes(b + j, k - j) * splat(scale), k - j);
  sum_rows<false, false>(k, k, nullptr, e, pt, ldp, out);
}

constexpr Kernels table = {
    version,         product_nt,          add_product_tn, packed_outer,  softmax_rows,
    add_sparse_rows, scatter_sparse_rows, forward_step,   backward_step,
};

#undef BNPVI_UNROLL
#undef BNPVI_PREFETCH
