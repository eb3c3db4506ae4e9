// The largest entries of rows; part of kernels_impl.h.

/// To find the largest of k entries, columns are divided into classes: column j is in class j mod n_classes.
/// (With 16 classes the four largest of a hundred entries take 74 ns; a heap fed with all columns took 487
/// ns, because of mispredicted branches.)
constexpr Index class_vectors = 16 / lanes, n_classes = class_vectors * lanes;

/// A lower limit for the `width` largest entries of w: a value that at least `width` entries reach, and not
/// many more. If width ≤ n_classes, it is found from the maximum of each class of columns: the width-th
/// largest of the different maxima. Otherwise it is −∞.
inline double often_reached(Index k, const double* w, Index width) {
  if (width > n_classes) return -HUGE_VAL;
  Vd top[class_vectors];
  BNPVI_UNROLL
  for (int v = 0; v < class_vectors; ++v) top[v] = splat(-HUGE_VAL);
  const auto raise = [&](int v, Vd x) { top[v] = x > top[v] ? x : top[v]; };
  Index j = 0;
  for (; j + n_classes <= k; j += n_classes) {
    BNPVI_UNROLL
    for (int v = 0; v < class_vectors; ++v) raise(v, load(w + j + v * lanes));
  }
  BNPVI_UNROLL
  for (int v = 0; v < class_vectors; ++v) {
    const Index count = k - j - v * lanes;
    if (count > 0) raise(v, load_lanes(w + j + v * lanes, count, -HUGE_VAL));
  }
  double reached = HUGE_VAL;
  for (; width > 0; --width) {
    Vd largest = splat(-HUGE_VAL);
    BNPVI_UNROLL
    for (int v = 0; v < class_vectors; ++v) {
      const Vd x = top[v] < splat(reached) ? top[v] : splat(-HUGE_VAL);
      largest = x > largest ? x : largest;
    }
    reached = max_lanes(largest);
  }
  return reached;
}

/// True when column a ranks after column b: w_a < w_b, or w_a = w_b and a > b.
inline bool behind(const double* w, int a, int b) { return w[a] < w[b] || (w[a] == w[b] && a > b); }

/// Restores the order of a heap of columns, whose top is the column with the smallest entry (behind()). Only
/// element i of the heap may be out of place, too near to the top.
inline void sink(const double* w, Index width, int* column, Index i) {
  const int moving = column[i];
  for (Index child; (child = 2 * i + 1) < width; i = child) {
    if (child + 1 < width && behind(w, column[child + 1], column[child])) ++child;
    if (!behind(w, column[child], moving)) break;
    column[i] = column[child];
  }
  column[i] = moving;
}

/// Compares k ≤ 64 entries: bit i of the result is set when w_i ≥ least.
inline unsigned long long not_below(Index k, const double* w, Vd least) {
  unsigned long long bits = 0;
  for (Index j = 0; j < k; j += lanes)
    bits |= static_cast<unsigned long long>(lanes_not_below(load_lanes(w + j, k - j, -HUGE_VAL), least)) << j;
  return k < 64 ? bits & ((1ull << k) - 1) : bits;
}

/// Finds the columns of the `width` largest entries of w, given that at least `width` entries are ≥ `least`.
inline void largest_reaching(Index k, const double* w, double least, Index width, int* column) {
  Index found = 0;
  for (Index from = 0; from < k; from += 64) {
    unsigned long long bits = not_below(k - from < 64 ? k - from : 64, w + from, splat(least));
    for (; bits != 0; bits &= bits - 1) {
      const int j = static_cast<int>(from) + lowest_bit(bits);
      if (found < width) {
        column[found++] = j;
      } else {
        if (found++ == width)
          for (Index h = width / 2; h > 0; --h) sink(w, width, column, h - 1);
        if (w[j] <= w[column[0]]) continue;
        column[0] = j;
        sink(w, width, column, 0);
      }
    }
  }
}

/// Implements Kernels::largest_rows. Each step is done for several rows before the next step, so that the
/// processor can overlap their work.
void largest_rows(Index n, Index k, const double* w, Index ldw, Index width, int* column) {
  constexpr Index max_rows = 16;  // a guess
  double least[max_rows];
  for (Index start = 0; start < n; start += max_rows) {
    const Index rows = n - start < max_rows ? n - start : max_rows;
    for (Index i = 0; i < rows; ++i) least[i] = often_reached(k, w + i * ldw, width);
    for (Index i = 0; i < rows; ++i, w += ldw, column += width)
      largest_reaching(k, w, least[i], width, column);
  }
}

void largest_from(Index k, const double* w, Index width, int* column) {
  double least = w[column[0]];
  for (Index i = 1; i < width; ++i) least = w[column[i]] < least ? w[column[i]] : least;
  largest_reaching(k, w, least, width, column);
}
