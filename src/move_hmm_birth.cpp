// Birth in hidden Markov models: the rows of one state, or a stretch of rows, get states of their own.
#include <algorithm>
#include <cmath>

#include "hmm_search.h"
#include "hmm_segments.h"

namespace bnpvi {

namespace {

constexpr Index rounds_tried = 10;

class HmmBirth final : public HmmMove {
 public:
  using HmmMove::HmmMove;

  bool prepare(const State& state) override {
    choose(state);
    return !ids_.empty();
  }

  void after_lap(State& state) override {
    settle(state);
    for (std::uint64_t id : ids_) {
      const Index j = c_.memory.number_of(id);
      if (j < 0 || state.total.size(j) < 2) continue;
      ++tried_;
      Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), id);
      const std::vector<Stretch> stretches = stretches_of(j, stream);
      if (!stretches.empty() && attempt(state, split(state, j, stretches, stream), rounds_tried))
        ++accepted_;
      else
        c_.memory.birth_failed(j, state.total.size(j));
    }
  }

  void report(LapRecord& record) const override {
    record.births_tried += tried_;
    record.births += accepted_;
  }

 private:
  void choose(const State& state) {
    const Summary& s = state.total;
    std::vector<Index> targets;
    for (Index j = 0; j < s.k; ++j)
      if (s.size(j) >= 2 && c_.memory.birth_worth_trying(j, s.size(j))) targets.push_back(j);
    std::stable_sort(targets.begin(), targets.end(), [&](Index x, Index y) {
      const int fx = c_.memory.birth_failures(x), fy = c_.memory.birth_failures(y);
      return fx < fy || (fx == fy && s.size(x) > s.size(y));
    });
    if (static_cast<Index>(targets.size()) > c_.options.max_births)
      targets.resize(static_cast<std::size_t>(c_.options.max_births));
    for (Index j : targets) ids_.push_back(c_.memory.id(j));
  }

  // Runs of state j, cut into stretches of a random length.
  std::vector<Stretch> stretches_of(Index j, Stream& stream) const {
    const Dataset& data = c_.problem.data;
    const Index longest = static_cast<Index>(std::lround(std::pow(2.0, 1 + 6 * stream.uniform())));
    std::vector<Stretch> out;
    for (Index g = 0; g < data.n_groups(); ++g)
      for (Index i = data.starts[g]; i < data.starts[g + 1]; ++i) {
        if (now_.label[i] != j) continue;
        Index end = i;
        while (end < data.starts[g + 1] && now_.label[end] == j) ++end;
        const Index n = end - i, m = (n + longest - 1) / longest;
        for (Index part = 0; part < m; ++part) out.push_back({i + n * part / m, i + n * (part + 1) / m, {}});
        i = end;
      }
    fill_statistics(c_.problem.obs, data, out, c_.pool);
    return out;
  }

  Proposal split(const State& state, Index j, const std::vector<Stretch>& stretches, Stream& stream) const {
    const Index k = state.k(), p = state.total.shape.p;
    const Index born_most = 1 + stream.index(std::min<Index>(c_.options.birth_size, 3));
    const std::vector<Index> group =
        cluster_stretches(c_.problem.obs, stretches, born_most + 1, stream, c_.pool);
    const Index born = *std::max_element(group.begin(), group.end());
    Proposal out;
    out.change = [born](Summary& s) { s.append(born); };
    out.remember = [born, j](MoveMemory& m) {
      m.append(born);
      m.birth_succeeded(j);
    };
    out.start = state.total;
    out.change(out.start);
    std::vector<int> label = now_.label;
    for (std::size_t s = 0; s < group.size(); ++s) {
      if (group[s] == 0) continue;
      const Index to = k + group[s] - 1;
      for (Index i = 0; i < p; ++i) {
        out.start.t(to)[i] += stretches[s].t[i];
        out.start.t(j)[i] -= stretches[s].t[i];
      }
      for (Index i = stretches[s].begin; i < stretches[s].end; ++i) label[i] = static_cast<int>(to);
    }
    // the target is described by its own rows
    std::fill_n(out.start.t(j), p, 0.0);
    for (std::size_t s = 0; s < group.size(); ++s)
      if (group[s] == 0)
        for (Index i = 0; i < p; ++i) out.start.t(j)[i] += stretches[s].t[i];
    recount(out.start, label);
    out.touched = touching({j});
    return out;
  }

  // Transitions of the labelled rows.
  void recount(Summary& s, const std::vector<int>& label) const {
    std::fill(s.pair.begin(), s.pair.end(), 0.0);
    std::fill(s.extra.begin(), s.extra.end(), 0.0);
    const Dataset& data = c_.problem.data;
    for (Index g = 0; g < data.n_groups(); ++g)
      for (Index i = data.starts[g]; i < data.starts[g + 1]; ++i) {
        if (label[i] < 0) continue;
        if (i == data.starts[g] || label[i - 1] < 0)
          s.extra[label[i]] += 1;
        else
          s.pair[label[i - 1] * s.k + label[i]] += 1;
      }
  }

  std::vector<std::uint64_t> ids_;
};

}  // namespace

std::unique_ptr<Move> HmmAlloc::birth_move(const MoveContext& c) const {
  return std::make_unique<HmmBirth>(c, *this);
}

}  // namespace bnpvi
