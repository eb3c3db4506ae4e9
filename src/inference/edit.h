// A proposal that visits some units again and leaves the others as they are.
#pragma once
#include "inference/changes.h"
#include "inference/move.h"

namespace bnpvi {

/// The units of a batch that an edit visits again.
struct EditedPart {
  std::vector<Index> units;  // ascending
  Summary rest;              // of the batch without them, clusters as they are
};

/// Some units are taken out of a state, the clusters of what is left change, and the units are brought back
/// by local and global steps. All other units keep their responsibilities, so the changes must need no look
/// at them: merges of clusters that none of them shares, drops of clusters that none of them has, new
/// clusters.
class Edit {
 public:
  /// parts: of every batch. first: globals for the first visit.
  Edit(const MoveContext& context, const State& state, Changes changes, std::vector<EditedPart> parts,
       Globals first);

  /// Rounds of a local step on the units and a global step. As soon as the ELBO is above that of `state`, the
  /// edited state replaces it and the memory of moves changes with it (true); given up after max_rounds, or
  /// when the gap is more than the rounds left would close if each gained as much as the last, for gains
  /// shrink.
  bool climb(State& state, Index max_rounds);

  Index rounds() const { return rounds_; }

  /// What the last visit of the units found, by batch.
  const std::vector<Summary>& found() const { return found_; }

 private:
  void round();

  const MoveContext& c_;
  Changes changes_;
  std::vector<EditedPart> parts_;
  State proposed_;
  std::vector<Summary> found_;
  Index rounds_ = 0;
};

}  // namespace bnpvi
