#include "inference/unit_edit.h"

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
  if (assignments_) changes_.apply(*assignments_);
}

Summary UnitEdit::visit(const Globals& globals) {
  const Problem& problem = c_.problem;
  const auto weights = visiting_weights(problem, globals.effective);
  Summary all;
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    if (parts_[b].units.empty()) continue;
    const std::shared_ptr<const Batch> batch = problem.source.open(static_cast<Index>(b));
    AssignmentSink kept(assignments_ ? &*assignments_ : nullptr, *batch, nullptr);
    found_[b] = problem.alloc.local_step({batch->data, parts_[b].units, problem.obs, globals, weights,
                                          c_.pool, assignments_ ? &kept : nullptr, found_[b].memory.get()});
    if (all.k == 0)
      all = found_[b];
    else
      all.add(found_[b]);
  }
  return all.k == 0 ? Summary(rest_.shape, rest_.k) : all;
}

void UnitEdit::put_back(State& edited) {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    auto batch = std::make_shared<Summary>(parts_[b].rest);
    if (!parts_[b].units.empty()) {
      batch->add(found_[b]);
      batch->memory = c_.problem.alloc.joined_memory(parts_[b].rest.memory, found_[b].memory);
    }
    edited.batch[b] = std::move(batch);
  }
  edited.assignments = std::move(assignments_);
}

}  // namespace bnpvi
