// A proposal of a move that updates q(z) of some units as the allocation model does (local_step()).
#pragma once
#include "inference/moves/edit.h"

namespace bnpvi {

/// The units (rows or groups of rows) of one batch whose q(z) a proposal updates.
struct EditedPart {
  std::vector<Index> units;  // numbers of the units, ascending
  Summary rest;              // summary of the batch without these units, before the clusters are changed
};

/// A proposal that updates q(z) of some units of each batch as the allocation model does (local_step()). In
/// each round a unit starts from its q(z) of the round before.
class UnitEdit final : public Edit {
 public:
  /// parts: the units to be updated, for every batch, in order. `state` must exist while rounds are made.
  UnitEdit(const MoveContext& context, const State& state, Changes changes, std::vector<EditedPart> parts);
  /// The same proposal after its last round, in another context, such as that of another thread.
  UnitEdit(const MoveContext& context, UnitEdit&& made);

  /// For each batch the summary (sums of statistics) of its updated units, after their last update.
  const std::vector<Summary>& found() const { return found_; }

 private:
  void visit(const Globals& globals, Summary& total) override;
  void put_back(State& edited) override;

  std::vector<EditedPart> parts_;
  std::vector<Summary> found_;
  /// The responsibilities of all rows, if the state has them; those of the updated units are from the last
  /// round.
  std::optional<Assignments> assignments_;
};

}  // namespace bnpvi
