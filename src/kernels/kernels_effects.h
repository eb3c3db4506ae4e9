// Implements the functions of effects_kernels.h: each lane of a vector works on one individual. Part of
// kernels_impl.h.

/// Transposes the rows of A (n × p, n ≤ lanes) into p vectors. Lanes after the n-th repeat the last row.
inline void lay_in_lanes(Index n, Index p, const double* a, double* out) {
  for (Index from = 0; from < p; from += lanes) {
    Vd v[lanes];
    BNPVI_UNROLL
    for (Index l = 0; l < lanes; ++l) v[l] = load_lanes(a + (l < n ? l : n - 1) * p + from, p - from);
    transpose(v);
    for (Index j = 0; j < lanes && from + j < p; ++j) store(out + (from + j) * lanes, v[j]);
  }
}

inline double min_lanes(Vd v) {
  return fold_lanes(v, [](double a, double b) { return b < a ? b : a; });
}

/// The optimal q(a) of the random effects of `lanes` individuals, one in each lane of the vectors. The
/// precision of q(a) is factored as L D Lᵀ, where L has a unit diagonal.
template <Index q>
struct EffectsLanes {
  static constexpr Index second = q * (q + 1) / 2;
  static constexpr Index at(Index i, Index j) { return i * (i + 1) / 2 + j; }

  explicit EffectsLanes(const EffectsPlaces& places) : places_(places) {}

  const EffectsPlaces& places_;
  Vd lower[second], inverse_pivot[q], mean[q], square;  // square: h'S h
  Vd log_det;                                           // log|S|, S the covariance of q(a)
  Vd covariance[second];
  // A check over all calls of run(). least: the smallest pivot so far, or 1 if all were larger. wrong: 0
  // unless a product of pivots was not finite.
  Vd least = splat(1), wrong = splat(0);

  bool good() const { return min_lanes(least) >= DBL_MIN && sum_lanes(wrong) == 0; }

  inline void run(const double* sums, const double* w) {
    const Index p = places_.p;
    const double* moments = w + places_.moments;
    const double* xy = moments + p * (p + 1) / 2;
    const Vd tau = splat(-2 * xy[p]);
    Vd h[q], product = splat(1);
    square = log_det = splat(0);
    BNPVI_UNROLL
    for (Index i = 0; i < q; ++i) {
      h[i] = mul_add(tau, load(sums + (places_.zy + i) * lanes), splat(w[at(i + 1, 0)]));
      for (Index j = 0; j < p; ++j)
        h[i] = h[i] - splat(xy[j]) * load(sums + (places_.zx + i * p + j) * lanes);
      Vd scaled[q];  // row i of L D
      BNPVI_UNROLL
      for (Index j = 0; j <= i; ++j) {
        Vd sum = mul_add(tau, load(sums + (EffectsPlaces::zz + at(i, j)) * lanes),
                         splat(-(i == j ? 2 : 1) * w[at(i + 1, j + 1)]));
        if (j < i) {
          BNPVI_UNROLL
          for (Index k = 0; k < j; ++k) sum = sum - scaled[k] * lower[at(j, k)];
        }
        scaled[j] = sum;
      }
      BNPVI_UNROLL
      for (Index k = 0; k < i; ++k) {
        lower[at(i, k)] = scaled[k] * inverse_pivot[k];
        // Subtracts products of entries of this row that were computed just before from its diagonal entry.
        scaled[i] = scaled[i] - scaled[k] * lower[at(i, k)];
        h[i] = h[i] - lower[at(i, k)] * h[k];
      }
      const Vd pivot = scaled[i];
      least = pivot < least ? pivot : least;
      inverse_pivot[i] = splat(1) / pivot;
      mean[i] = h[i] * inverse_pivot[i];
      square = mul_add(h[i], mean[i], square);
      product = product * pivot;
      if (i % 2 == 1 || i == q - 1) {  // logarithms of two pivots at a time, whose product is finite
        least = product < least ? product : least;
        wrong = mul_add(product, splat(0), wrong);
        log_det = log_det - log_lanes(product);
        product = splat(1);
      }
    }
  }

  inline Vd log_weight(const double* sums, const double* w) const {
    constexpr double log_2_pi = 0x1.d67f1c864beb4p+0;
    Vd sum = mul_add(splat(w[places_.rows]), load(sums + lanes), splat(w[0] + 0.5 * log_2_pi * q));
    for (Index j = 0; j < places_.entropy - places_.moments; ++j)
      sum = mul_add(splat(w[places_.moments + j]), load(sums + (places_.moments_of_rows + j) * lanes), sum);
    return mul_add(splat(0.5), square + log_det, sum);
  }

  inline void find_moments() {
    Vd inverse[second];  // L⁻¹, packed by rows
    BNPVI_UNROLL
    for (Index i = q - 1; i >= 0; --i) {
      BNPVI_UNROLL
      for (Index k = i + 1; k < q; ++k) mean[i] = mean[i] - lower[at(k, i)] * mean[k];
    }
    BNPVI_UNROLL
    for (Index i = 0; i < q; ++i) {
      inverse[at(i, i)] = splat(1);
      BNPVI_UNROLL
      for (Index j = 0; j < i; ++j) {
        Vd sum = splat(0) - lower[at(i, j)];
        BNPVI_UNROLL
        for (Index k = j + 1; k < i; ++k) sum = sum - lower[at(i, k)] * inverse[at(k, j)];
        inverse[at(i, j)] = sum;
      }
    }
    BNPVI_UNROLL
    for (Index i = 0; i < q; ++i) {
      BNPVI_UNROLL
      for (Index j = 0; j <= i; ++j) {
        Vd sum = splat(0);
        BNPVI_UNROLL
        for (Index k = i; k < q; ++k)
          sum = mul_add(inverse[at(k, i)] * inverse_pivot[k], inverse[at(k, j)], sum);
        covariance[at(i, j)] = sum;
      }
    }
  }
};

/// Sums of expected features E φ of individuals (effects_kernels.h), in each lane of the vectors separately.
/// Most entries stay in registers; those that concern the regressors x without random effects are in
/// `others`.
template <Index q>
struct EffectsTotals {
  static constexpr Index second = EffectsLanes<q>::second;
  static constexpr Index at(Index i, Index j) { return EffectsLanes<q>::at(i, j); }

  const EffectsPlaces& places;
  double* others;  // second moments of (x, y − z'a) except the last
  Vd count, first[q], seconds[second], rows, square, entropy;

  EffectsTotals(const EffectsPlaces& where, double* scratch) : places(where), others(scratch) {
    count = rows = square = entropy = splat(0);
    for (Index i = 0; i < q; ++i) first[i] = splat(0);
    for (Index i = 0; i < second; ++i) seconds[i] = splat(0);
    for (Index j = 0; j < n_others(); ++j) store(others + j * lanes, splat(0));
  }

  Index n_others() const { return places.entropy - places.moments - 1; }

  // Adds the expected features E φ of the individual in each lane, times its responsibility r. Under q(a) =
  // N(m, S) the second moments of y − z'a and x are yy − 2 m'Z'y + tr Z'Z (mm' + S), X'y − X'Z m and X'X.
  inline void add(const EffectsLanes<q>& own, const double* sums, Vd r) {
    constexpr double log_2_pi_e = 0x1.6b3f8e4325f5ap+1;
    const Index p = places.p;
    const double* moments = sums + places.moments_of_rows * lanes;
    Vd left = load(moments + n_others() * lanes);
    count = count + r;
    rows = mul_add(r, load(sums + lanes), rows);
    BNPVI_UNROLL
    for (Index i = 0; i < q; ++i) {
      first[i] = mul_add(r, own.mean[i], first[i]);
      left = left - (own.mean[i] + own.mean[i]) * load(sums + (places.zy + i) * lanes);
      BNPVI_UNROLL
      for (Index j = 0; j <= i; ++j) {
        const Vd of_two = mul_add(own.mean[i], own.mean[j], own.covariance[at(i, j)]);
        seconds[at(i, j)] = mul_add(r, of_two, seconds[at(i, j)]);
        left = mul_add(i == j ? of_two : of_two + of_two, load(sums + (EffectsPlaces::zz + at(i, j)) * lanes),
                       left);
      }
    }
    left = left > splat(0) ? left : splat(0);
    square = mul_add(r, left, square);
    entropy = mul_add(r * splat(0.5), own.log_det + splat(log_2_pi_e * q), entropy);
    const Index crosses = p * (p + 1) / 2;
    for (Index j = 0; j < n_others(); ++j) {
      Vd value = load(moments + j * lanes);
      if (j >= crosses) {
        BNPVI_UNROLL
        for (Index i = 0; i < q; ++i)
          value = value - own.mean[i] * load(sums + (places.zx + i * p + j - crosses) * lanes);
      }
      store(others + j * lanes, mul_add(r, value, load(others + j * lanes)));
    }
  }

  void finish(double* t) const {
    t[0] += sum_lanes(count);
    for (Index i = 0; i < q; ++i) {
      t[at(i + 1, 0)] += sum_lanes(first[i]);
      for (Index j = 0; j <= i; ++j) t[at(i + 1, j + 1)] += sum_lanes(seconds[at(i, j)]);
    }
    t[places.rows] += sum_lanes(rows);
    for (Index j = 0; j < n_others(); ++j) t[places.moments + j] += sum_lanes(load(others + j * lanes));
    t[places.moments + n_others()] += sum_lanes(square);
    t[places.entropy] += sum_lanes(entropy);
  }
};

inline void lay_all_in_lanes(const EffectsPlaces& at, Index n, const double* sums, double* tiles) {
  for (Index i = 0; i < n; i += lanes)
    lay_in_lanes(n - i < lanes ? n - i : lanes, at.sums, sums + i * at.sums, tiles + i * at.sums);
}

template <Index q>
bool effects_log_weights(const EffectsPlaces& at, Index n, const double* sums, Index k, const double* w,
                         Index ld, double* tiles, double* out) {
  lay_all_in_lanes(at, n, sums, tiles);
  EffectsLanes<q> own(at);
  for (Index j = 0; j < k; ++j, w += ld)
    for (Index i = 0; i < n; i += lanes) {
      own.run(tiles + i * at.sums, w);
      double value[lanes];
      store(value, own.log_weight(tiles + i * at.sums, w));
      for (Index l = 0; l < lanes && i + l < n; ++l) out[(i + l) * k + j] = value[l];
    }
  return own.good();
}

template <Index q>
bool effects_add(const EffectsPlaces& at, Index n, const double* sums, Index k, const double* r,
                 const double* const* w, double* tiles, double* const* t) {
  lay_all_in_lanes(at, n, sums, tiles);
  EffectsLanes<q> own(at);
  for (Index j = 0; j < k; ++j) {
    EffectsTotals<q> total(at, tiles + (n + 8) * at.sums);
    for (Index i = 0; i < n; i += lanes) {
      double share[lanes] = {};
      bool any = false;
      for (Index l = 0; l < lanes && i + l < n; ++l) {
        share[l] = r[(i + l) * k + j];
        any = any || share[l] != 0;
      }
      if (!any) continue;
      own.run(tiles + i * at.sums, w[j]);
      own.find_moments();
      total.add(own, tiles + i * at.sums, load(share));
    }
    total.finish(t[j]);
  }
  return own.good();
}

template <Index q>
bool effects_moments(const EffectsPlaces& at, Index n, const double* sums, const double* w, double* tiles,
                     double* mean, double* covariance) {
  constexpr Index second = EffectsLanes<q>::second;
  lay_all_in_lanes(at, n, sums, tiles);
  EffectsLanes<q> own(at);
  for (Index i = 0; i < n; i += lanes) {
    own.run(tiles + i * at.sums, w);
    own.find_moments();
    double value[lanes];
    for (Index m = 0; m < q + second; ++m) {
      store(value, m < q ? own.mean[m] : own.covariance[m - q]);
      for (Index l = 0; l < lanes && i + l < n; ++l)
        (m < q ? mean[(i + l) * q + m] : covariance[(i + l) * second + m - q]) = value[l];
    }
  }
  return own.good();
}

template <Index q>
constexpr EffectsKernels effects_of = {effects_log_weights<q>, effects_add<q>, effects_moments<q>};
