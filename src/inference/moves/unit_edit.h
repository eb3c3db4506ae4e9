// An edit whose units are visited by the allocation model's local step.
#pragma once
#include "inference/moves/edit.h"

namespace bnpvi {

/// The units of a batch that an edit visits again.
struct EditedPart {
  std::vector<Index> units;  // ascending
  Summary rest;              // of the batch without them, clusters as they are
};

/// Units of any kind, batch by batch, each from where its own last round left it.
class UnitEdit final : public Edit {
 public:
  /// parts: of every batch, in order. The state must outlive the rounds.
  UnitEdit(const MoveContext& context, const State& state, Changes changes, std::vector<EditedPart> parts);

  /// What the last visit of the units found, by batch.
  const std::vector<Summary>& found() const { return found_; }

 private:
  void visit(const Globals& globals, Summary& total) override;
  void put_back(State& edited) override;

  std::vector<EditedPart> parts_;
  std::vector<Summary> found_;
  std::optional<Assignments> assignments_;  // of all rows, those of the units as they were visited last
};

}  // namespace bnpvi
