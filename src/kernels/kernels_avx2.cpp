// Kernels for x86-64 with AVX2 and FMA. Nothing compiled after the target pragma has external linkage, except
// the function that returns the table, so that no other file can use code for the newer processor.
#include <cfloat>
#include <cmath>
#include <cstring>

#include "kernels/kernels_target.h"

#if BNPVI_X86_VERSIONS
#include <immintrin.h>

BNPVI_BEGIN_TARGET("avx2,fma")
namespace bnpvi {
namespace {

using Vd = __m256d;
using Vi = unsigned long long __attribute__((vector_size(32)));
constexpr Index lanes = 4;
constexpr const char* version = "avx2";
constexpr int max_tile_rows = 4, max_tile_vectors = 3;  // so that the accumulators fit into the registers

inline __m256i first_lanes(Index count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_set_epi64x(3, 2, 1, 0));
}
inline Vd load(const double* x) { return _mm256_loadu_pd(x); }
inline void store(double* x, Vd v) { _mm256_storeu_pd(x, v); }
inline Vd load_part(const double* x, Index count, Vd fill) {
  const __m256i mask = first_lanes(count);
  return _mm256_blendv_pd(fill, _mm256_maskload_pd(x, mask), _mm256_castsi256_pd(mask));
}
inline void store_part(double* x, Vd v, Index count) { _mm256_maskstore_pd(x, first_lanes(count), v); }
inline Vd splat(double x) { return _mm256_set1_pd(x); }
inline Vd inverse_lanes(Vd x) { return splat(1) / x; }
inline Vd inverse_root_lanes(Vd x) { return splat(1) / _mm256_sqrt_pd(x); }
inline Vd mul_add(Vd a, Vd b, Vd c) { return _mm256_fmadd_pd(a, b, c); }
inline unsigned lanes_not_below(Vd a, Vd b) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_NLT_UQ)));
}
inline void transpose(Vd (&v)[lanes]) {
  const Vd a = _mm256_unpacklo_pd(v[0], v[1]), b = _mm256_unpackhi_pd(v[0], v[1]);
  const Vd c = _mm256_unpacklo_pd(v[2], v[3]), d = _mm256_unpackhi_pd(v[2], v[3]);
  v[0] = _mm256_permute2f128_pd(a, c, 0x20);
  v[1] = _mm256_permute2f128_pd(b, d, 0x20);
  v[2] = _mm256_permute2f128_pd(a, c, 0x31);
  v[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

#include "kernels/kernels_impl.h"

}  // namespace

const KernelVersion* avx2_kernels() { return &table; }

}  // namespace bnpvi
BNPVI_END_TARGET
#endif
