// Dense matrix products; part of kernels_impl.h.
//
// Both products, A Bᵀ and Rᵀ A, are sums over `depth` of outer products (a column of X) × (a row of a packed
// panel), accumulated in registers. The terms of an entry are added in the order of depth, whatever the tile,
// so that the value of an entry depends only on its own row and column.

constexpr Index max_tile_width = max_tile_vectors * lanes;
constexpr Index max_depth = 192;  // of a packed panel, so that it stays in the first-level cache: a guess

/// How the left factor X of a product is stored: with rows `ldx` apart, with columns `ldx` apart, or as
/// selected rows: row i of X is row index[i] of an array with rows `ldx` apart.
enum class Stored { by_row, by_column, by_index };

/// Computes one register tile of a product: out (rows × columns) = X · panel, or += if `add`; X is rows ×
/// depth.
template <int rows, int vectors, Stored stored>
void multiply_tile(Index depth, const double* x, Index ldx, const int* index, const double* panel,
                   double* out, Index ldo, Index columns, bool add) {
  Vd acc[rows][vectors];
  BNPVI_UNROLL
  for (int i = 0; i < rows; ++i) {
    BNPVI_UNROLL
    for (int v = 0; v < vectors; ++v) {
      acc[i][v] = splat(0);
      if (stored == Stored::by_column && v * lanes % 8 == 0) BNPVI_PREFETCH(out + i * ldo + v * lanes);
    }
  }
  const Index row_step = stored == Stored::by_row ? ldx : 1, depth_step = stored == Stored::by_row ? 1 : ldx;
  const double* row[rows];
  if constexpr (stored == Stored::by_index) {
    BNPVI_UNROLL
    for (int i = 0; i < rows; ++i) row[i] = x + index[i] * ldx;
  }
  for (Index t = 0; t < depth; ++t) {
    Vd b[vectors];
    BNPVI_UNROLL
    for (int v = 0; v < vectors; ++v) b[v] = load(panel + v * lanes);
    BNPVI_UNROLL
    for (int i = 0; i < rows; ++i) {
      const Vd xi = splat(stored == Stored::by_index ? row[i][t] : x[i * row_step]);
      BNPVI_UNROLL
      for (int v = 0; v < vectors; ++v) acc[i][v] = mul_add(xi, b[v], acc[i][v]);
    }
    if (stored != Stored::by_index) x += depth_step;
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

template <int rows, int vectors, Stored stored>
void multiply_rows(Index n_rows, Index depth, const double* x, Index ldx, const int* index,
                   const double* panel, double* out, Index ldo, Index columns, bool add) {
  if constexpr (rows > 0) {
    if (n_rows == rows)
      multiply_tile<rows, vectors, stored>(depth, x, ldx, index, panel, out, ldo, columns, add);
    else
      multiply_rows<rows - 1, vectors, stored>(n_rows, depth, x, ldx, index, panel, out, ldo, columns, add);
  }
}

/// Multiplies all rows of X by one panel (a group of columns, stored row by row). Rows are taken in groups of
/// nearly equal size whose results fit into registers.
template <int vectors, Stored stored>
void multiply_panel(Index n_vectors, Index n, Index depth, const double* x, Index ldx, const int* index,
                    const double* panel, double* out, Index ldo, Index columns, bool add) {
  if constexpr (vectors > 0) {
    if (n_vectors < vectors)
      return multiply_panel<vectors - 1, stored>(n_vectors, n, depth, x, ldx, index, panel, out, ldo, columns,
                                                 add);
    constexpr bool indexed = stored == Stored::by_index;
    const Index step = indexed ? 0 : stored == Stored::by_row ? ldx : 1;
    for (Index i = 0, tiles = ceil_div(n, max_tile_rows); tiles > 0; --tiles) {
      const Index height = ceil_div(n - i, tiles);
      multiply_rows<max_tile_rows, vectors, stored>(height, depth, x + i * step, ldx,
                                                    indexed ? index + i : nullptr, panel, out + i * ldo, ldo,
                                                    columns, add);
      i += height;
    }
  }
}

/// Loads and transposes: block_i = column i of A (rows × columns entries), padded with zeros.
inline void load_transposed(Index rows, Index columns, const double* a, Index lda, Vd (&block)[lanes]) {
  BNPVI_UNROLL
  for (Index i = 0; i < lanes; ++i) block[i] = i < rows ? load_lanes(a + i * lda, columns) : splat(0);
  transpose(block);
}

/// Packs B for a product: panel (depth × width) = the transpose of `columns` rows of B, padded with zeros.
void pack_transposed(Index depth, Index columns, Index width, const double* b, Index ldb, double* panel) {
  for (Index j = 0; j < width; j += lanes) {
    for (Index t = 0; t < depth; t += lanes) {
      Vd block[lanes];
      load_transposed(columns - j, depth - t, b + j * ldb + t, ldb, block);
      BNPVI_UNROLL
      for (Index i = 0; i < lanes; ++i)
        if (i < depth - t) store(panel + (t + i) * width + j, block[i]);
    }
  }
}

void transpose_rows(Index n, Index k, const double* a, Index lda, double* out, Index ldo) {
  for (Index i = 0; i < n; i += lanes)
    for (Index j = 0; j < k; j += lanes) {
      Vd block[lanes];
      load_transposed(n - i, k - j, a + i * lda + j, lda, block);
      BNPVI_UNROLL
      for (Index l = 0; l < lanes; ++l)
        if (l < k - j) store_lanes(out + (j + l) * ldo + i, block[l], n - i);
    }
}

/// Packs A for a product: panel (depth × width) = `columns` columns of A, padded with zeros.
void pack_rows(Index depth, Index columns, Index width, const double* a, Index lda, double* panel) {
  for (Index t = 0; t < depth; ++t)
    for (Index j = 0; j < width; j += lanes)
      store(panel + t * width + j, load_lanes(a + t * lda + j, columns - j));
}

/// Divides a product with m columns and `total` terms for each entry into panels, and calls f(t, depth, j,
/// columns, n_vectors) for each in turn: terms t .. t + depth − 1 of columns j .. j + columns − 1, in
/// n_vectors vectors.
template <class F>
void for_each_panel(Index m, Index total, F f) {
  Index t = 0;
  for (Index chunks = ceil_div(total, max_depth); chunks > 0; --chunks) {
    const Index depth = ceil_div(total - t, chunks);
    Index j = 0;
    for (Index panels = ceil_div(m, max_tile_width); panels > 0; --panels) {
      const Index n_vectors = ceil_div(ceil_div(m - j, lanes), panels);
      const Index columns = m - j < n_vectors * lanes ? m - j : n_vectors * lanes;
      f(t, depth, j, columns, n_vectors);
      j += columns;
    }
    t += depth;
  }
}

/// Computes out (n × m) = X · Y, or += if `add`; Y is total × m. When X is stored by columns, y holds Y by
/// rows; otherwise y holds the rows of its transpose, or, if `packed` is not null, packed holds the panels of
/// Y one after the other.
template <Stored stored>
void multiply(Index n, Index m, Index total, const double* x, Index ldx, const int* index, const double* y,
              Index ldy, const double* packed, double* out, Index ldo, bool add) {
  constexpr bool by_column = stored == Stored::by_column;
  alignas(64) double panel[max_depth * max_tile_width];
  for_each_panel(m, total, [&](Index t, Index depth, Index j, Index columns, Index n_vectors) {
    const Index width = n_vectors * lanes;
    if (by_column)
      pack_rows(depth, columns, width, y + t * ldy + j, ldy, panel);
    else if (!packed)
      pack_transposed(depth, columns, width, y + j * ldy + t, ldy, panel);
    multiply_panel<max_tile_vectors, stored>(n_vectors, n, depth, x + (by_column ? t * ldx : t), ldx, index,
                                             packed ? packed : panel, out + j, ldo, columns, add || t > 0);
    if (packed) packed += depth * width;
  });
}

Index packed_size(Index k, Index p) {
  Index size = 0;
  for_each_panel(
      k, p, [&](Index, Index depth, Index, Index, Index n_vectors) { size += depth * n_vectors * lanes; });
  return size;
}

void pack(Index k, Index p, const double* b, Index ldb, double* packed) {
  for_each_panel(k, p, [&](Index t, Index depth, Index j, Index columns, Index n_vectors) {
    pack_transposed(depth, columns, n_vectors * lanes, b + j * ldb + t, ldb, packed);
    packed += depth * n_vectors * lanes;
  });
}

void product_packed(Index n, Index k, Index p, const double* a, Index lda, const double* packed, double* c,
                    Index ldc) {
  multiply<Stored::by_row>(n, k, p, a, lda, nullptr, nullptr, 0, packed, c, ldc, false);
}

void product_nt(Index n, Index k, Index p, const double* a, Index lda, const double* b, Index ldb, double* c,
                Index ldc) {
  if (p == 0)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < k; ++j) c[i * ldc + j] = 0;
  multiply<Stored::by_row>(n, k, p, a, lda, nullptr, b, ldb, nullptr, c, ldc, false);
}

void selected_product_nt(Index n, Index k, Index p, const int* index, const double* a, Index lda,
                         const double* b, Index ldb, double* c, Index ldc) {
  if (p == 0)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < k; ++j) c[i * ldc + j] = 0;
  multiply<Stored::by_index>(n, k, p, a, lda, index, b, ldb, nullptr, c, ldc, false);
}

void add_product_tn(Index n, Index k, Index p, const double* r, Index ldr, const double* a, Index lda,
                    double* s, Index lds) {
  multiply<Stored::by_column>(k, p, n, r, ldr, nullptr, a, lda, nullptr, s, lds, true);
}
