// An edit whose units are visited by the allocation model's local step.
#pragma once
#include "inference/moves/edit.h"

namespace bnpvi {

/// The units of a batch that an edit visits again.
struct EditedPart {
  std::vector<Index> units;  // numbers of the units, ascending
  Summary rest;              // summary of the batch without these units, before the clusters are changed
};

/// A proposal that visits some units of each batch again, by the local step of the allocation model; each
/// unit starts from where its last round left it.
class UnitEdit final : public Edit {
 public:
  /// parts: one for every batch, in order. The state must outlive the rounds.
  UnitEdit(const MoveContext& context, const State& state, Changes changes, std::vector<EditedPart> parts);

  /// The summaries of the units after their last visit, by batch.
  const std::vector<Summary>& found() const { return found_; }

 private:
  void visit(const Globals& globals, Summary& total) override;
  void put_back(State& edited) override;

  std::vector<EditedPart> parts_;
  std::vector<Summary> found_;
  /// Responsibilities of all rows; those of the units are from their last visit.
  std::optional<Assignments> assignments_;
};

}  // namespace bnpvi
