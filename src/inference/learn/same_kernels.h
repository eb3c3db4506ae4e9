// A check that a stored fit continues with the numerical kernels with which it was computed.
#pragma once
#include "foundation/archive.h"

namespace bnpvi {

/// Writes the name of the kernels (numerical inner loops) in use.
void write_kernels(Writer& out);

/// Reads a name that write_kernels() wrote; throws std::invalid_argument unless it is the name of the
/// numerical kernels that this process uses.
void expect_kernels(Reader& in);

}  // namespace bnpvi
