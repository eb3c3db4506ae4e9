// What hidden Markov models remember of L-sparse sequences.
#pragma once
#include "foundation/data.h"
#include "inference/unit_memory.h"

namespace bnpvi::chains {

/// Memories of sequences: the states that each modelled row may be in, as of the last visit, L small numbers
/// a row. With the globals of that visit they determine q(z), so a part of a summary can be taken out again.
///
/// When there are no more than L states each row has all of them; otherwise a birth would force q(z) to give
/// some up.
std::shared_ptr<UnitMemory> chain_memory(const Dataset& data, const std::vector<Index>& units, Index lag,
                                         Index width);

/// The set of a row as `width` different states of k ≥ width: slots of states that are gone, or that were
/// not there, go to others, which can only raise the bound.
void fill_set(const SupportTable& support, Index row, Index k, Index width, int* state);

/// The memory of some of the sequences.
std::shared_ptr<const UnitMemory> part_of(const UnitMemory& memory, const std::vector<Index>& units);

/// The memory with other sets for the sequences of `newer`.
std::shared_ptr<const UnitMemory> with_newer(const UnitMemory& memory, const UnitMemory& newer);

}  // namespace bnpvi::chains
