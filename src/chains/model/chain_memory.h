// The unit memory of L-sparse sequences.
#pragma once
#include "foundation/data.h"
#include "inference/data/unit_memory.h"

namespace bnpvi::chains {

/// An empty memory for the sequences `units`: for each modelled row the set of the L = `width` states that it
/// may be in. Together with the globals of the last visit these sets determine q(z), so that the summary of
/// some sequences can be computed again and subtracted from that of their batch.
///
/// As long as K ≤ L, each row has all K states.
std::shared_ptr<UnitMemory> chain_memory(const Dataset& data, const std::vector<Index>& units, Index lag,
                                         Index width);

/// state (width) ← the set of a row, filled up to `width` different states of k ≥ width: slots of states that
/// no longer exist, and empty ones, get any other states. A larger set cannot lower the bound.
void fill_set(const SupportTable& support, Index row, Index k, Index width, int* state);

/// The memory of those of its sequences that are in `units`.
std::shared_ptr<const UnitMemory> part_of(const UnitMemory& memory, const std::vector<Index>& units);

/// The memory with the sets of the sequences in `newer` replaced by those there.
std::shared_ptr<const UnitMemory> with_newer(const UnitMemory& memory, const UnitMemory& newer);

}  // namespace bnpvi::chains
