#include "alloc_hmm.h"
#include "move.h"

namespace bnpvi {
std::unique_ptr<Move> HmmAlloc::birth_move(const MoveContext&) const { return nullptr; }
std::unique_ptr<Move> HmmAlloc::merge_move(const MoveContext&) const { return nullptr; }
std::unique_ptr<Move> HmmAlloc::delete_move(const MoveContext&) const { return nullptr; }
}  // namespace bnpvi
