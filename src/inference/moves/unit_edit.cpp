#include "inference/moves/unit_edit.h"

#include "inference/learn/batch_work.h"

namespace bnpvi {

UnitEdit::UnitEdit(const MoveContext& context, const State& state, Changes changes,
                   std::vector<EditedPart> parts)
    : Edit(context, std::move(changes)),
      parts_(std::move(parts)),
      found_(parts_.size()),
      assignments_(state.assignments) {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    Summary& rest = parts_[b].rest;
    changes_.apply(rest);
    rest.log_base = state.batch[b]->log_base;
    if (b == 0)
      rest_ = rest;
    else
      rest_.add(rest);
  }
  rest_.names = state.total.names;
  changes_.apply(rest_.names);
  if (assignments_) changes_.apply(*assignments_);
}

UnitEdit::UnitEdit(const MoveContext& context, UnitEdit&& made)
    : Edit(context, std::move(made)),
      parts_(std::move(made.parts_)),
      found_(std::move(made.found_)),
      assignments_(std::move(made.assignments_)) {}

void UnitEdit::visit(const Globals& globals, Summary& total) {
  const Problem& problem = c_.problem;
  Globals at = globals;
  at.weights = nullptr;
  const auto work_at = globals_for_work(problem, std::move(at), true);
  std::vector<std::unique_ptr<UnitsWork>> work;
  for (std::size_t b = 0; b < parts_.size(); ++b)
    if (!parts_[b].units.empty())
      work.push_back(std::make_unique<UnitsWork>(static_cast<Index>(b), work_at, parts_[b].units,
                                                 found_[b].memory, assignments_ ? &*assignments_ : nullptr));
  do_work(problem, c_.pool, work);
  Summary all;
  for (const auto& done : work) {
    Summary& found = found_[static_cast<std::size_t>(done->batch)] = std::move(done->found);
    if (all.k == 0)
      all = found;
    else
      all.add(found);
  }
  if (all.k > 0) total.add(all);
}

void UnitEdit::put_back(State& edited) {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    auto batch = std::make_shared<Summary>(parts_[b].rest);
    if (!parts_[b].units.empty()) {
      batch->add(found_[b]);
      const VisitMemory* memory = c_.problem.alloc.capabilities().memory;
      batch->memory = memory ? memory->joined_memory(parts_[b].rest.memory, found_[b].memory) : nullptr;
    }
    edited.batch[b] = std::move(batch);
  }
  edited.assignments = std::move(assignments_);
}

}  // namespace bnpvi
