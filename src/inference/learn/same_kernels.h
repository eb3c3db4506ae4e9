// The kernels with which a stored fit was computed.
#pragma once
#include "foundation/archive.h"

namespace bnpvi {

/// Writes the name of the kernels in use.
void write_kernels(Writer& out);

/// Throws std::invalid_argument unless the kernels in use have that name.
void expect_kernels(Reader& in);

}  // namespace bnpvi
