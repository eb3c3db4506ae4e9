// Kernels for any machine: two doubles at a time where the compiler has vector types, otherwise one.
#include <cfloat>
#include <cmath>
#include <cstring>

#include "kernels/kernels_target.h"

namespace bnpvi {
namespace {

#if defined(__GNUC__)
using Vd = double __attribute__((vector_size(16)));
using Vi = unsigned long long __attribute__((vector_size(16)));
constexpr Index lanes = 2;
inline Vd splat(double x) { return Vd{x, x}; }
inline Vd load_part(const double* x, Index, Vd fill) { return Vd{x[0], fill[1]}; }
inline void store_part(double* x, Vd v, Index) { x[0] = v[0]; }
inline void transpose(Vd (&v)[lanes]) {
  const Vd first = {v[0][0], v[1][0]};
  v[1] = Vd{v[0][1], v[1][1]};
  v[0] = first;
}
inline Vd inverse_lanes(Vd x) { return splat(1) / x; }
inline Vd inverse_root_lanes(Vd x) { return splat(1) / Vd{std::sqrt(x[0]), std::sqrt(x[1])}; }
inline unsigned lanes_not_below(Vd a, Vd b) { return (a[0] < b[0] ? 0u : 1u) | (a[1] < b[1] ? 0u : 2u); }
#else
using Vd = double;
using Vi = unsigned long long;
constexpr Index lanes = 1;
inline Vd splat(double x) { return x; }
inline Vd load_part(const double*, Index, Vd fill) { return fill; }
inline void store_part(double*, Vd, Index) {}
inline void transpose(Vd (&)[lanes]) {}
inline Vd inverse_lanes(Vd x) { return 1 / x; }
inline Vd inverse_root_lanes(Vd x) { return 1 / std::sqrt(x); }
inline unsigned lanes_not_below(Vd a, Vd b) { return a < b ? 0u : 1u; }
#endif
inline Vd load(const double* x) {
  Vd v;
  std::memcpy(&v, x, sizeof v);
  return v;
}
inline void store(double* x, Vd v) { std::memcpy(x, &v, sizeof v); }
inline Vd mul_add(Vd a, Vd b, Vd c) { return a * b + c; }
constexpr const char* version = "base";
constexpr int max_tile_rows = 4, max_tile_vectors = 2;  // so that the accumulators fit into the registers

#include "kernels/kernels_impl.h"

}  // namespace

const KernelVersion* base_kernels() { return &table; }

}  // namespace bnpvi
