// What is stored of L-sparse sequences between visits: the states that each row may be in.
#pragma once
#include "foundation/data.h"
#include "inference/data/unit_memory.h"

namespace bnpvi::chains {

/// An empty memory for the sequences `units`. For each modelled row it will hold the set of the L = `width`
/// states that the row may be in. These sets and the globals of the last visit determine q(z), so that the
/// summary of some sequences can be computed again and subtracted from that of their batch.
///
/// As long as K ≤ L, each row has all K states.
std::shared_ptr<UnitMemory> chain_memory(const Dataset& data, const std::vector<Index>& units, Index lag,
                                         Index width);

/// state (width) ← the set of a row, filled up to `width` different states out of k ≥ width: entries that are
/// empty, or whose state no longer exists, are replaced by any other states. A larger set cannot lower the
/// bound.
void fill_set(const SupportTable& support, Index row, Index k, Index width, int* state);

/// The part of the memory for its sequences that are in `units`.
std::shared_ptr<const UnitMemory> part_of(const UnitMemory& memory, const std::vector<Index>& units);

/// A copy of `memory` in which the sets of all sequences in `newer` are replaced by those in `newer`.
std::shared_ptr<const UnitMemory> with_newer(const UnitMemory& memory, const UnitMemory& newer);

}  // namespace bnpvi::chains
