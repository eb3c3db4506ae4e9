// Merge of two states of a hidden Markov model.
#include <algorithm>

#include "hmm_search.h"

namespace bnpvi {

namespace {

constexpr Index rounds_tried = 6;

class HmmMerge final : public HmmMove {
 public:
  using HmmMove::HmmMove;

  bool prepare(const State& state) override { return !pairs(state).empty(); }

  void after_lap(State& state) override {
    settle(state);
    Index left = c_.options.max_merges;
    for (bool again = true; again && left > 0;) {
      again = false;
      for (const Pair& pair : pairs(state)) {
        if (spent() || left-- == 0) return;
        ++tried_;
        if (attempt(state, propose(state, pair.a, pair.b), rounds_tried)) {
          ++accepted_;
          again = true;
          break;
        }
        c_.memory.merge_failed(pair.a, pair.b, state.total.size(pair.a), state.total.size(pair.b));
      }
    }
  }

  void report(LapRecord& record) const override {
    record.merges_tried += tried_;
    record.merges += accepted_;
  }

 private:
  struct Pair {
    Index a, b;
    double score;
  };

  Proposal propose(const State& state, Index a, Index b) const {
    Proposal p;
    p.change = [a, b](Summary& s) { s.merge(a, b); };
    p.remember = [b](MoveMemory& m) { m.drop(b); };
    p.start = state.total;
    p.change(p.start);
    p.touched = touching(b);
    return p;
  }

  // Pairs worth trying, best data term first.
  std::vector<Pair> pairs(const State& state) const {
    const Summary& s = state.total;
    const ObsModel& obs = c_.problem.obs;
    std::vector<Pair> out;
    Vec evidence, both(static_cast<std::size_t>(s.shape.p));
    for (Index j = 0; j < s.k; ++j) evidence.push_back(obs.log_evidence(s.t(j)));
    for (Index a = 0; a < s.k; ++a) {
      c_.pool.poll();
      for (Index b = a + 1; b < s.k; ++b) {
        if (!c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b))) continue;
        for (Index i = 0; i < s.shape.p; ++i) both[i] = s.t(a)[i] + s.t(b)[i];
        const double score = obs.log_evidence(both.data()) - evidence[a] - evidence[b];
        out.push_back({a, b, score});
      }
    }
    std::stable_sort(out.begin(), out.end(), [](const Pair& x, const Pair& y) { return x.score > y.score; });
    return out;
  }
};

}  // namespace

std::unique_ptr<Move> HmmAlloc::merge_move(const MoveContext& c) const {
  return std::make_unique<HmmMerge>(c, *this);
}
}  // namespace bnpvi
