// Values of fits, written and read.
#pragma once
#include "foundation/archive.h"
#include "foundation/named_array.h"
#include "inference/learn/alloc_model.h"

namespace bnpvi {

void write(Writer& out, const NamedArrays& arrays);
NamedArrays read_arrays(Reader& in);

/// Without weights, which follow from the rest.
void write(Writer& out, const Globals& globals);
Globals read_globals(Reader& in);

}  // namespace bnpvi
