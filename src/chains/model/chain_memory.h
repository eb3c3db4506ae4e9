// What is stored between visits (updates of q(z)) of sequences whose rows may be in L states only (L-sparse):
// the set of states of each row.
#pragma once
#include "foundation/data.h"
#include "inference/data/unit_memory.h"

namespace bnpvi::chains {

/// Makes an empty memory for the sequences `units`. For each modelled row it will have the set of the L =
/// `width` states where the row may be. These sets and the globals (posterior of the parameters) of the last
/// visit determine q(z). So the summary (sums of statistics) of some sequences can be recomputed, and
/// subtracted from that of their batch. If K ≤ L, each row has all K states.
std::shared_ptr<UnitMemory> chain_memory(const Dataset& data, const std::vector<Index>& units, Index lag,
                                         Index width);

/// Fills `state` with the set of states where a row may be: `width` different states out of k ≥ width. If the
/// stored set has empty entries, or states that no longer exist, other states are taken instead: a larger set
/// cannot lower the bound.
void fill_set(const SupportTable& support, Index row, Index k, Index width, int* state);

/// The part of the memory that belongs to the sequences in `units`.
std::shared_ptr<const UnitMemory> part_of(const UnitMemory& memory, const std::vector<Index>& units);

/// A copy of `memory` with the sets of states from `newer` for the sequences that `newer` has.
std::shared_ptr<const UnitMemory> with_newer(const UnitMemory& memory, const UnitMemory& newer);

}  // namespace bnpvi::chains
