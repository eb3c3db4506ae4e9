// Kernels for x86-64 with AVX-512 (F, VL, DQ). Nothing compiled after the target pragma has external linkage,
// except the function that returns the table, so that no other file can use code for the newer processor.
#include <cfloat>
#include <cmath>
#include <cstring>

#include "kernels/kernels_target.h"

#if BNPVI_X86_VERSIONS
#include <immintrin.h>

BNPVI_BEGIN_TARGET("avx2,fma,avx512f,avx512vl,avx512dq")
namespace bnpvi {
namespace {

using Vd = __m512d;
using Vi = unsigned long long __attribute__((vector_size(64)));
constexpr Index lanes = 8;
constexpr const char* version = "avx512";
constexpr int max_tile_rows = 8, max_tile_vectors = 3;  // so that the accumulators fit into the registers

inline __mmask8 first_lanes(Index count) { return static_cast<__mmask8>((1 << count) - 1); }
inline Vd load(const double* x) { return _mm512_loadu_pd(x); }
inline void store(double* x, Vd v) { _mm512_storeu_pd(x, v); }
inline Vd load_part(const double* x, Index count, Vd fill) {
  return _mm512_mask_loadu_pd(fill, first_lanes(count), x);
}
inline void store_part(double* x, Vd v, Index count) { _mm512_mask_storeu_pd(x, first_lanes(count), v); }
inline Vd splat(double x) { return _mm512_set1_pd(x); }
inline Vd mul_add(Vd a, Vd b, Vd c) { return _mm512_fmadd_pd(a, b, c); }
// By Newton's steps from 14 bits, which take less time than a division and a root.
inline Vd inverse_lanes(Vd x) {
  Vd y = _mm512_maskz_rcp14_pd(0xff, x);
  for (int i = 0; i < 2; ++i) y = mul_add(y, splat(1) - x * y, y);
  return y;
}
inline Vd inverse_root_lanes(Vd x) {
  Vd y = _mm512_maskz_rsqrt14_pd(0xff, x);
  const Vd t = x * y, left = splat(1) - t * y;  // (1 - left)^(-1/2) up to left^3
  const Vd series = mul_add(mul_add(splat(5. / 16), left, splat(3. / 8)), left, splat(0.5));
  return mul_add(y * left, series, y);
}
inline unsigned lanes_not_below(Vd a, Vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_NLT_UQ); }
inline void transpose(Vd (&v)[lanes]) {
  constexpr __mmask8 all = 0xff;  // masked intrinsics, as GCC 12 gives false warnings for the plain ones
  Vd pairs[lanes], quads[lanes];  // first 2 × 2 blocks are transposed, then rows regrouped
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm512_maskz_unpacklo_pd(all, v[i], v[i + 1]);
    pairs[i + 1] = _mm512_maskz_unpackhi_pd(all, v[i], v[i + 1]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 2; ++i) {
    quads[i] = _mm512_maskz_shuffle_f64x2(all, pairs[i], pairs[i + 2], 0x88);
    quads[i + 2] = _mm512_maskz_shuffle_f64x2(all, pairs[i], pairs[i + 2], 0xdd);
    quads[i + 4] = _mm512_maskz_shuffle_f64x2(all, pairs[i + 4], pairs[i + 6], 0x88);
    quads[i + 6] = _mm512_maskz_shuffle_f64x2(all, pairs[i + 4], pairs[i + 6], 0xdd);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm512_maskz_shuffle_f64x2(all, quads[i], quads[i + 4], 0x88);
    v[i + 4] = _mm512_maskz_shuffle_f64x2(all, quads[i], quads[i + 4], 0xdd);
  }
}

#include "kernels/kernels_impl.h"

}  // namespace

const KernelVersion* avx512_kernels() { return &table; }

}  // namespace bnpvi
BNPVI_END_TARGET
#endif
