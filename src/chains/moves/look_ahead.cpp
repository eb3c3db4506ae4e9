// Evaluation of proposals for several targets at the same time, ahead of their turn.
#include <algorithm>

#include "chains/moves/chain_search.h"
#include "inference/data/source.h"

namespace bnpvi::chains {

namespace {

// Both are guesses. With more rows, threads share the work within a proposal well enough, and copies of rows
// take memory.
constexpr Index most_rows_ahead = Index{1} << 18;
// Targets of each thread at a time. With many, threads wait little for the last one; but later targets may
// lose their turn by what becomes of the first ones.
constexpr Index targets_of_thread = 16;

// Interrupts one target's evaluation when the user stops the fit.
class StopOfFit final : public Monitor {
 public:
  explicit StopOfFit(Pool& pool) : pool_(pool) {}
  bool interrupted() override {
    pool_.poll();
    return false;
  }

 private:
  Pool& pool_;
};

}  // namespace

HmmMove::HmmMove(const HmmMove& like, const MoveContext& context)
    : c_(context), alloc_(like.alloc_), snapshot_(like.snapshot_), home_(&like.c_) {}

bool HmmMove::looks_ahead() const {
  const Problem& problem = c_.problem;
  if (c_.pool.n_threads() == 1 || problem.workers || problem.observer.wants_spared_work() ||
      problem.source.shape().n > most_rows_ahead)
    return false;
  const auto first = problem.source.open(0);  // batches of files have row numbers of their own
  return !first->rows && !first->groups;
}

Index HmmMove::targets_ahead() const { return targets_of_thread * c_.pool.n_threads(); }

std::vector<std::optional<HmmMove::Look>> HmmMove::look_ahead(
    Index n, const std::function<std::optional<Look>(Index, const MoveContext&)>& evaluate) const {
  std::vector<std::optional<Look>> out(static_cast<std::size_t>(n));
  const Index risen = first_success(c_.pool, n, [&](Index i) {
    StopOfFit stop(c_.pool);
    Pool own(1, stop);
    Problem problem = c_.problem;
    problem.pool = &own;
    try {
      out[i] = evaluate(i, {problem, c_.options, c_.memory, c_.visitor, own, c_.lap});
      if (out[i]) out[i]->products = own.spent();
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception&) {  // thrown again in the target's turn, if the state is the same then
    }
    return out[i] && out[i]->risen;
  });
  out.resize(static_cast<std::size_t>(std::min(n, risen + 1)));
  return out;
}

bool HmmMove::take(State& state, const std::optional<Look>& look, const std::function<bool()>& propose) {
  if (!look || (look->risen && !settle(state, *look->risen, true))) return propose();
  reached_ = look->reached;
  rows_visited_ += look->rows;
  c_.pool.spend(look->products);
  return look->risen != nullptr;
}

}  // namespace bnpvi::chains
