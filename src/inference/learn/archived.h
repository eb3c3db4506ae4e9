// Reading and writing of the values of which a fit consists (archive.h).
#pragma once
#include "foundation/archive.h"
#include "foundation/named_array.h"
#include "inference/learn/alloc_model.h"

namespace bnpvi {

void write(Writer& out, const NamedArrays& arrays);
NamedArrays read_arrays(Reader& in);

/// Writes the globals (parameters' posterior), but not Globals::weights, the weights for the next visit
/// (update of q(z)), which follow from the rest.
void write(Writer& out, const Globals& globals);
Globals read_globals(Reader& in);

}  // namespace bnpvi
