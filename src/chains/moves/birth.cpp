// Birth in hidden Markov models: some stretches of consecutive rows of one state get new states.
#include <algorithm>
#include <cmath>

#include "chains/moves/division.h"
#include "chains/moves/moves.h"
#include "chains/moves/turns.h"

namespace bnpvi::chains {

namespace {

// most_born, most_tries and margin were measured (inst/design/decisions.md); the others are guesses.
constexpr Index most_born = 5;          // new states of a proposal
constexpr double longest_stretch = 64;  // rows
constexpr int most_tries = 10;          // for a state at its size
constexpr double rows_of_rounds = 100;  // the global steps of a try cost as much as visits of so many rows
constexpr double price = 1.5e-5;        // nats that a late try must gain per row, state and feature
constexpr double margin = 50;           // nats that visits may add to a forecast

class HmmBirth final : public HmmDivision {
 public:
  using HmmDivision::HmmDivision;

  bool prepare(const State& state) override {
    ids_ = birth_targets(c_, state, most_tries);
    ids_.erase(std::remove_if(ids_.begin(), ids_.end(),
                              [&](std::uint64_t id) { return !pays(state, c_.memory.number_of(id)); }),
               ids_.end());
    return !ids_.empty();
  }

  void after_lap(State& state) override {
    if (!visit_until_converged(state)) return;
    const auto has_turn = [&](Index i) {
      const Index j = c_.memory.number_of(ids_[i]);
      return j >= 0 && pays(state, j);
    };
    const auto propose_for = [&](HmmBirth& move, State& at, Index i) {
      Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), ids_[i]);
      return move.propose(at, c_.memory.number_of(ids_[i]), stream);
    };
    const Index n = static_cast<Index>(ids_.size());
    Turns turns(*this, n, has_turn, propose_for);
    for (Index i = 0; i < n; ++i) {
      const Index j = c_.memory.number_of(ids_[i]);
      if (j < 0) continue;
      if (spent()) break;
      const bool again = c_.memory.birth_failures(j) > 0;
      if (!pays(state, j)) continue;
      ++tried_;
      const double before = state.elbo, visited = rows_visited();
      if (turns.take(state, i)) {
        ++accepted_;
        c_.memory.birth_succeeded(c_.memory.number_of(ids_[i]));
      } else {
        c_.memory.birth_failed(j, state.total.size(j), rows_visited() == visited);
      }
      if (again && rows_visited() > visited) c_.memory.late_birth_tried(state.elbo - before);
    }
    drop_idle(state);
  }

 private:
  bool is_late(const State& state, Index j) const {
    return !c_.memory.birth_worth_trying(j, state.total.size(j));
  }

  // False where K is fixed and there is no room for a new state. A target that at its present size has failed
  // as often as allowed is tried again only if late births of this fit (of targets that had failed before)
  // gained enough for their work, which is proportional to rows times (states + features).
  bool pays(const State& state, Index j) const {
    if (!has_room(state, j)) return false;
    const double rows = state.total.size(j) + rows_of_rounds,
                 work = rows * static_cast<double>(state.total.shape.p + state.k());
    return !is_late(state, j) || c_.memory.late_birth_gain() >= price * work;
  }

  // Tries three proposals until one is accepted: divides stretches of the rows of state j, of a random
  // length; proposes new states for a block of rows around one of them, whatever states the rows of the block
  // have; divides single rows, since a state that lasts for one row never fills a stretch. True when one was
  // accepted. From the second try of a state at its size on, proposals whose forecast is too low end before
  // they visit rows, and single rows are left out.
  bool propose(State& state, Index j, Stream& stream) {
    const bool first = c_.memory.birth_failures(j) == 0;
    const double least = first ? any_change : -margin;
    const Sequences sequences = sequences_of({j}, stream);
    const Index longest = std::lround(2 * std::pow(longest_stretch / 2, stream.uniform()));
    const auto divided = [&](Index rows) {
      std::vector<Stretch> stretches = stretches_of({j}, sequences, rows);
      if (stretches.size() < 2) return false;
      const Index k = 2 + stream.index(std::min(most_born, c_.options.birth_size - 1));
      return divide(state, {j}, sequences, std::move(stretches), k, least, stream);
    };
    return divided(longest) || divide_block(state, j, sequences, least, stream) || (first && divided(1));
  }

  std::vector<std::uint64_t> ids_;  // identities of the targets: numbers change when a birth is accepted
};

}  // namespace

std::unique_ptr<Move> make_hmm_birth(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmBirth>(context, alloc);
}

}  // namespace bnpvi::chains
