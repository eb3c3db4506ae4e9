// The kernels with which a stored fit was computed.
#pragma once
#include "foundation/archive.h"

namespace bnpvi {

/// Writes the name of the kernels (numerical inner loops) in use.
void write_kernels(Writer& out);

/// Reads a name that write_kernels() wrote; throws std::invalid_argument unless it is that of the kernels in
/// use.
void expect_kernels(Reader& in);

}  // namespace bnpvi
