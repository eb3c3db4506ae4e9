#include "inference/edit.h"

#include <limits>

namespace bnpvi {

Edit::Edit(const MoveContext& context, const State& state, Changes changes, std::vector<EditedPart> parts,
           Globals first)
    : c_(context), changes_(std::move(changes)), parts_(std::move(parts)), found_(parts_.size()) {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    changes_.apply(parts_[b].rest);
    parts_[b].rest.log_base = state.batch[b]->log_base;
  }
  proposed_.total = parts_.front().rest;
  proposed_.batch.resize(parts_.size());
  proposed_.assignments = state.assignments;
  if (proposed_.assignments) changes_.apply(*proposed_.assignments);
  proposed_.globals = std::move(first);
}

void Edit::round() {
  const Problem& problem = c_.problem;
  const auto weights = visiting_weights(problem, proposed_.globals.effective);
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const EditedPart& part = parts_[b];
    auto s = std::make_shared<Summary>(part.rest);
    if (!part.units.empty()) {
      const std::shared_ptr<const Batch> batch = problem.source.open(static_cast<Index>(b));
      AssignmentSink audited(proposed_.assignments ? &*proposed_.assignments : nullptr, *batch, nullptr);
      found_[b] =
          problem.alloc.local_step({batch->data, part.units, problem.obs, proposed_.globals, weights, c_.pool,
                                    proposed_.assignments ? &audited : nullptr, found_[b].memory.get()});
      s->add(found_[b]);
      s->memory = problem.alloc.joined_memory(part.rest.memory, found_[b].memory);
    }
    proposed_.batch[b] = std::move(s);
  }
  resum(problem, proposed_);
  refresh(problem, proposed_);
}

bool Edit::climb(State& state, Index max_rounds) {
  double previous = -std::numeric_limits<double>::infinity();
  for (Index n = 0; n < max_rounds; ++n) {
    round();
    ++rounds_;
    if (proposed_.elbo > state.elbo + rounding_of(state.elbo)) {
      state = std::move(proposed_);
      changes_.apply(c_.memory);
      return true;
    }
    const double gap = state.elbo - proposed_.elbo, gain = proposed_.elbo - previous;
    if (gap > gain * static_cast<double>(max_rounds - n)) return false;
    previous = proposed_.elbo;
  }
  return false;
}

}  // namespace bnpvi
