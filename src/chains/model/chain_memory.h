// What is stored between visits (updates of q(z)) of sequences whose rows may be in L states only (L-sparse):
// the states of each row.
#pragma once
#include "foundation/data.h"
#include "inference/data/unit_memory.h"

namespace bnpvi::chains {

/// Makes an empty memory for the sequences `units`. For each modelled row it will hold the set of the L =
/// `width` states that the row may be in. These sets and the globals (posterior of the parameters) of the
/// last visit determine q(z), so that the summary (sums of statistics) of some sequences can be computed
/// again and subtracted from that of their batch. As long as K ≤ L, each row has all K states.
std::shared_ptr<UnitMemory> chain_memory(const Dataset& data, const std::vector<Index>& units, Index lag,
                                         Index width);

/// Fills `state` with the set of states that a row may be in: `width` different states out of k ≥ width.
/// Where the stored set has empty entries, or states that no longer exist, other states take their places: a
/// larger set cannot lower the bound.
void fill_set(const SupportTable& support, Index row, Index k, Index width, int* state);

/// The part of the memory that belongs to the sequences in `units`.
std::shared_ptr<const UnitMemory> part_of(const UnitMemory& memory, const std::vector<Index>& units);

/// A copy of `memory` in which each sequence that `newer` has, too, has its sets of states from `newer`.
std::shared_ptr<const UnitMemory> with_newer(const UnitMemory& memory, const UnitMemory& newer);

}  // namespace bnpvi::chains
