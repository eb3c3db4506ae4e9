// Macros that compile a part of one file for a newer processor, without compiler flags.
#pragma once
#include "kernels/effects_kernels.h"
#include "kernels/kernels.h"
#include "kernels/tangent_kernels.h"

/// 1 if versions for newer processors are built. GCC on Windows does not align vectors of more than 16 bytes
/// on the stack. So there they are built only if the assembler makes up for it; Makevars.ucrt then defines
/// BNPVI_ANY_STACK.
#if defined(__x86_64__) && \
    (defined(__clang__) || (defined(__GNUC__) && (!defined(_WIN32) || defined(BNPVI_ANY_STACK))))
#define BNPVI_X86_VERSIONS 1
#else
#define BNPVI_X86_VERSIONS 0
#endif

#define BNPVI_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define BNPVI_BEGIN_TARGET(features) \
  BNPVI_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define BNPVI_END_TARGET _Pragma("clang attribute pop")
#else
/// After this, functions are compiled for these features of the processor. GCC's pragma stays in force to the
/// end of the file, because templates are instantiated there.
#define BNPVI_BEGIN_TARGET(features) BNPVI_PRAGMA(GCC target(features))
#define BNPVI_END_TARGET
#endif

namespace bnpvi {

/// All tables of inner loops for one type of processor.
struct KernelVersion {
  Kernels common;
  TangentKernels tangents;
  EffectsKernels effects[EffectsPlaces::most];  // element q − 1 is for q effects
};

/// The tables of inner loops for each type of processor; avx2 and avx512 are defined only where
/// BNPVI_X86_VERSIONS is 1.
const KernelVersion* base_kernels();
const KernelVersion* avx2_kernels();
const KernelVersion* avx512_kernels();

}  // namespace bnpvi
