// Evaluation of proposals for several targets at the same time, ahead of their turn.
#include "chains/moves/chain_search.h"
#include "inference/data/source.h"

namespace bnpvi::chains {

namespace {

// A guess: with more rows, threads share the work within a proposal well enough, and copies of rows take
// memory.
constexpr Index most_rows_ahead = Index{1} << 18;

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
    : c_(context), alloc_(like.alloc_), snapshot_(like.snapshot_), ahead_(true) {}

bool HmmMove::looks_ahead() const {
  const Problem& problem = c_.problem;
  return c_.pool.n_threads() > 1 && !problem.workers && !problem.observer.wants_spared_work() &&
         !problem.source.open(0)->rows && !problem.source.open(0)->groups &&
         problem.source.shape().n <= most_rows_ahead;
}

std::vector<HmmMove::Look> HmmMove::look_ahead(
    Index n, const std::function<bool(Index, const MoveContext&, double& rows)>& evaluate) const {
  std::vector<Look> out(static_cast<std::size_t>(n));
  c_.pool.run(n, [&](Index i) {
    StopOfFit stop(c_.pool);
    Pool own(1, stop);
    Problem problem = c_.problem;
    problem.pool = &own;
    try {
      out[i].may_rise = evaluate(i, {problem, c_.options, c_.memory, c_.visitor, own, c_.lap}, out[i].rows);
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception&) {  // thrown again in the target's turn, if the state is the same then
    }
    out[i].products = own.spent();
  });
  return out;
}

void HmmMove::count(const Look& look) {
  rows_visited_ += look.rows;
  c_.pool.spend(look.products);
}

}  // namespace bnpvi::chains
