#include "kernels/kernels.h"

#include <cstdlib>
#include <cstring>

#include "kernels/kernels_target.h"

namespace bnpvi {

namespace {

const KernelVersion* version_named(const char* name) {
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

const KernelVersion& choose() {
  const char* wanted = std::getenv("BNPVI_KERNELS");
  for (const char* name : {wanted, "avx512", "avx2"})
    if (name != nullptr)
      if (const KernelVersion* found = version_named(name)) return *found;
  return *base_kernels();
}

const KernelVersion& chosen() {
  static const KernelVersion& version = choose();
  return version;
}

}  // namespace

const Kernels* kernels_named(const char* name) {
  const KernelVersion* version = version_named(name);
  return version ? &version->common : nullptr;
}

const Kernels& kernels() { return chosen().common; }

const EffectsKernels& effects_kernels(Index q) { return chosen().effects[q - 1]; }

const TangentKernels& tangent_kernels() { return chosen().tangents; }

const TangentKernels* tangent_kernels_named(const char* name) {
  const KernelVersion* version = version_named(name);
  return version ? &version->tangents : nullptr;
}

}  // namespace bnpvi
