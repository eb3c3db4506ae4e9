// Outer and inner products of rows, products with sparse rows, and messages; part of kernels_impl.h.

void packed_outer(Index n, Index m, const double* v, Index ldv, double* out, Index ldo) {
  // For rows j < whole_vectors whole vectors may be stored: what they write past the end of row j is
  // overwritten by later rows.
  const Index whole_vectors = m - m % lanes;
  for (Index i = 0; i < n; ++i) {
    const double* x = v + i * ldv;
    double* o = out + i * ldo;
    for (Index j = 0; j < whole_vectors; ++j) {
      const Vd xj = splat(x[j]);
      for (Index l = 0; l <= j; l += lanes) store(o + l, xj * load(x + l));
      o += j + 1;
    }
    for (Index j = whole_vectors; j < m; ++j) {
      const Vd xj = splat(x[j]);
      for (Index l = 0; l < whole_vectors; l += lanes) store(o + l, xj * load(x + l));
      store_part(o + whole_vectors, xj * load_part(x + whole_vectors, j + 1 - whole_vectors, splat(0)),
                 j + 1 - whole_vectors);
      o += j + 1;
    }
  }
}

/// Computes y (`columns` entries) = Σ_i x_i (row row(i) of B), or += if `add`; row(i) is index[i] or i.
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

void weigh_rows(Index n, Index k, const int* index, const double* x, const double* b, Index ldb,
                const double* factor, double* sum, double* product) {
  sum_rows<true, false>(n, k, index, x, b, ldb, sum);
  for (Index j = 0; j < k; j += lanes)
    store_lanes(product + j, load_lanes(sum + j, k - j) * load_lanes(factor + j, k - j), k - j);
}

/// Computes the dot products of `rows` rows with one vector, all at the same time.
template <int rows>
void dot_some_rows(Index p, const int* index, const double* a, Index lda, const double* x, double* out) {
  Vd sums[rows];
  BNPVI_UNROLL
  for (int i = 0; i < rows; ++i) sums[i] = splat(0);
  for (Index j = 0; j < p; j += lanes) {
    const Vd xj = load_lanes(x + j, p - j);
    BNPVI_UNROLL
    for (int i = 0; i < rows; ++i) sums[i] = mul_add(load_lanes(a + index[i] * lda + j, p - j), xj, sums[i]);
  }
  BNPVI_UNROLL
  for (int i = 0; i < rows; ++i) out[i] = sum_lanes(sums[i]);
}

void dot_rows(Index n, Index p, const int* index, const double* a, Index lda, const double* x, double* out) {
  Index i = 0;
  for (; i + 4 <= n; i += 4) dot_some_rows<4>(p, index + i, a, lda, x, out + i);
  for (; i < n; ++i) dot_some_rows<1>(p, index + i, a, lda, x, out + i);
}

void scatter_sparse_rows(Index nnz, Index k, const int* index, const double* x, const double* r, double* b,
                         Index ldb) {
  for (Index i = 0; i < nnz; ++i) {
    if (x[i] == 0) continue;
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
