#include "kernels/kernels.h"

#include <cstdlib>
#include <cstring>

#include "kernels/kernels_target.h"
#include "kernels/tangent_kernels.h"

namespace bnpvi {

const Kernels* kernels_named(const char* name) {
  if (std::strcmp(name, "base") == 0) return base_kernels();
#if BNPVI_X86_VERSIONS
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (std::strcmp(name, "avx2") == 0 && avx2) return avx2_kernels();
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq");
  if (std::strcmp(name, "avx512") == 0 && avx512) return avx512_kernels();
#endif
  return nullptr;
}

namespace {

const Kernels& choose() {
  const char* wanted = std::getenv("BNPVI_KERNELS");
  for (const char* name : {wanted, "avx512", "avx2"})
    if (name != nullptr)
      if (const Kernels* found = kernels_named(name)) return *found;
  return *base_kernels();
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

const TangentKernels& tangent_kernels_of(const Kernels& version) {
  return static_cast<const AllKernels&>(version).tangents;
}

const TangentKernels& tangent_kernels() {
  static const TangentKernels& chosen = tangent_kernels_of(kernels());
  return chosen;
}

}  // namespace bnpvi
