// Birth in hidden Markov models: some stretches of consecutive rows of one state get new states.
#include <algorithm>
#include <cmath>

#include "chains/moves/division.h"
#include "chains/moves/moves.h"

namespace bnpvi::chains {

namespace {

// Guesses, but for the last.
constexpr Index most_born = 3;            // new states of a proposal
constexpr double longest_stretch = 64;    // rows
constexpr Index cheap_numbers = 1000000;  // rows times features up to which a failure costs little
constexpr int cheap_tries =
    10;  // of a state of such data: on motion capture the bound per number rose from −2.09 (2) to −2.07

class HmmBirth final : public HmmDivision {
 public:
  using HmmDivision::HmmDivision;

  bool prepare(const State& state) override {
    const bool cheap = c_.problem.source.shape().n * state.total.shape.p < cheap_numbers;
    ids_ = birth_targets(c_, state, cheap ? cheap_tries : 0);
    return !ids_.empty();
  }

  void after_lap(State& state) override {
    if (!visit_until_converged(state)) return;
    for (std::uint64_t id : ids_) {
      const Index j = c_.memory.number_of(id);
      if (j < 0) continue;
      if (spent()) break;
      ++tried_;
      Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), id);
      if (propose(state, j, stream))
        ++accepted_;
      else
        c_.memory.birth_failed(j, state.total.size(j));
    }
    drop_idle(state);
  }

 private:
  // Divides stretches of the rows of state j, of a random length; if that fails, proposes new states for a
  // block of rows around one of them, whatever states the rows of the block have; if that fails, divides
  // single rows, as states that last for one row are in no stretch alone. True when one was accepted.
  bool propose(State& state, Index j, Stream& stream) {
    const std::uint64_t id = c_.memory.id(j);
    const Sequences sequences = sequences_of({j}, stream);
    const Index longest = std::lround(2 * std::pow(longest_stretch / 2, stream.uniform()));
    const auto divided = [&](Index rows) {
      std::vector<Stretch> stretches = stretches_of({j}, sequences, rows);
      if (stretches.size() < 2) return false;
      const Index k = 2 + stream.index(std::min(most_born, c_.options.birth_size - 1));
      return divide(state, {j}, sequences, std::move(stretches), k, stream);
    };
    if (!divided(longest) && !divide_block(state, j, sequences, stream) && !divided(1)) return false;
    c_.memory.birth_succeeded(c_.memory.number_of(id));
    return true;
  }

  std::vector<std::uint64_t> ids_;  // of the targets: numbers change when a birth is accepted
};

}  // namespace

std::unique_ptr<Move> make_hmm_birth(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmBirth>(context, alloc);
}

}  // namespace bnpvi::chains
