#include "inference/progress.h"

#include "inference/same_kernels.h"

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
  globals.effective.write(out);
  out.list(globals.u);
  out.list(globals.omega);
  out.flag(globals.weights != nullptr);
  out.number(state.elbo);
  moves.write(out);
  out.integer(turn);
  out.integer(lap);
  out.integer(step);
  out.integer(static_cast<std::int64_t>(memory.size()));
  for (const auto& batch : memory) {
    out.flag(batch != nullptr);
    if (batch) batch->write(out);
  }
  out.integer(static_cast<std::int64_t>(learned.size()));
  for (const NamedArray& array : learned) {
    out.text(array.name);
    out.list(array.value);
    out.list(array.dim);
  }
  out.list(trace);
  out.flag(converged);
  out.text(reason);
  out.list(&taken_back, 1);
}

Progress Progress::read(Reader& in) {
  expect_kernels(in);
  Progress out;
  State& state = out.state;
  state.total = Summary::read(in);
  for (std::int64_t n = in.integer(); n > 0; --n)
    state.batch.push_back(in.flag() ? std::make_shared<const Summary>(Summary::read(in)) : nullptr);
  state.globals.effective = Summary::read(in);
  state.globals.u = in.list<Vec>();
  state.globals.omega = in.list<Vec>();
  if (in.flag()) state.globals.weights = std::make_shared<const Weights>();
  state.elbo = in.number();
  out.moves = MoveMemory::read(in);
  out.turn = in.integer();
  out.lap = in.integer();
  out.step = in.integer();
  for (std::int64_t n = in.integer(); n > 0; --n)
    out.memory.push_back(in.flag() ? std::make_shared<const UnitMemory>(UnitMemory::read(in)) : nullptr);
  for (std::int64_t n = in.integer(); n > 0; --n) {
    NamedArray array{in.text(), in.list<Vec>(), {}};
    array.dim = in.list<std::vector<Index>>();
    out.learned.push_back(std::move(array));
  }
  out.trace = in.list<std::vector<LapRecord>>();
  out.converged = in.flag();
  out.reason = in.text();
  out.taken_back = in.list<std::vector<LapRecord>>().at(0);
  return out;
}

void complete(const Problem& problem, Progress& progress) {
  Globals& globals = progress.state.globals;
  if (!globals.weights) return;
  Vec evidence(static_cast<std::size_t>(globals.effective.k));
  globals.weights = visiting_weights(problem, globals.effective, evidence.data());
}

}  // namespace bnpvi
