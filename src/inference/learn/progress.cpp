#include "inference/learn/progress.h"

#include "inference/learn/archived.h"
#include "inference/learn/coming_weights.h"
#include "inference/learn/same_kernels.h"

namespace bnpvi {

Progress::Progress(State at, Index p) : state(std::move(at)), moves(state.k(), p) {}

void Progress::write(Writer& out) const {
  write_kernels(out);
  state.total.write(out);
  out.integer(static_cast<std::int64_t>(state.batch.size()));
  for (const auto& batch : state.batch) {
    out.flag(batch != nullptr);
    if (batch) batch->write(out);
  }
  const Globals& globals = state.globals;
  bnpvi::write(out, globals);
  out.flag(globals.weights != nullptr);
  out.number(state.elbo);
  moves.write(out);
  out.integer(turn);
  long_steps.write(out);
  out.integer(step);
  out.integer(static_cast<std::int64_t>(memory.size()));
  for (const auto& batch : memory) {
    out.flag(batch != nullptr);
    if (batch) batch->write(out);
  }
  bnpvi::write(out, learned);
}

Progress Progress::read(Reader& in) {
  expect_kernels(in);
  Progress out;
  State& state = out.state;
  state.total = Summary::read(in);
  for (std::int64_t n = in.integer(); n > 0; --n)
    state.batch.push_back(in.flag() ? std::make_shared<const Summary>(Summary::read(in)) : nullptr);
  state.globals = read_globals(in);
  if (in.flag()) state.globals.weights = std::make_shared<const Weights>();
  state.elbo = in.number();
  out.moves = MoveMemory::read(in);
  out.turn = in.integer();
  out.long_steps = LongSteps::read(in);
  out.step = in.integer();
  for (std::int64_t n = in.integer(); n > 0; --n)
    out.memory.push_back(in.flag() ? std::make_shared<const UnitMemory>(UnitMemory::read(in)) : nullptr);
  out.learned = read_arrays(in);
  return out;
}

void complete(const Problem& problem, Progress& progress) {
  Globals& globals = progress.state.globals;
  if (!globals.weights) return;
  Vec evidence(static_cast<std::size_t>(globals.effective.k));
  globals.weights = coming_weights(problem, globals.effective, evidence.data());
}

}  // namespace bnpvi
