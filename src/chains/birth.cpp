// Birth in hidden Markov models: some stretches of consecutive rows of one state get new states.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "chains/chain_search.h"
#include "chains/moves.h"
#include "chains/stretches.h"

namespace bnpvi::chains {

namespace {

// Guesses, but for the last.
constexpr Index rounds_tried = 10;           // of local and global steps
constexpr Index most_born = 3;               // new states of a proposal
constexpr double longest_stretch = 64;       // rows
constexpr Index most_rows = Index{1} << 16;  // of the sequences that a proposal uses, unless one is longer
constexpr Index cheap_numbers = 1000000;     // rows times features up to which a failure costs little
constexpr int cheap_tries =
    10;  // of a state of such data: on motion capture the bound per number rose from −2.09 (2) to −2.07

// A copy of some sequences, given by their numbers among all (ascending).
class Sequences {
 public:
  Sequences(const Source& source, const std::vector<Index>& numbers)
      : starts_(source.starts()), numbers_(numbers), sample_(take_groups(source, places(source, numbers))) {}

  const Dataset& data() const { return sample_.data; }

  /// The same stretch by the row numbers of the copy.
  Stretch local(const Stretch& s) const {
    const Index group = std::upper_bound(starts_.begin(), starts_.end(), s.begin) - starts_.begin() - 1;
    const Index at = std::lower_bound(numbers_.begin(), numbers_.end(), group) - numbers_.begin();
    const Index shift = sample_.data.starts[at] - starts_[group];
    return {s.begin + shift, s.end + shift};
  }

 private:
  static std::vector<Place> places(const Source& source, const std::vector<Index>& numbers) {
    const std::vector<Place> all = places_of_groups(source);
    std::vector<Place> out;
    for (Index g : numbers) out.push_back(all[g]);
    return out;
  }

  const std::vector<Index>& starts_;
  const std::vector<Index>& numbers_;
  const Sample sample_;
};

class HmmBirth final : public HmmMove {
 public:
  using HmmMove::HmmMove;

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
  // New states 0 .. born − 1 with statistics t, and the state of each stretch; `kept`, unless empty, replaces
  // the target's statistic.
  struct Birth {
    Index born = 0;
    Vec t, kept;
    std::vector<Stretch> stretches;
    std::vector<Index> state;  // of each stretch; −1: that of its rows
  };

  // A random choice of sequences with most_rows rows in all, ascending; sequences with rows of state j are
  // drawn first.
  std::vector<Index> sequences_of(Index j, Stream& stream) const {
    const std::vector<Index>& starts = c_.problem.source.starts();
    std::vector<Index> all = shuffled(static_cast<Index>(starts.size()) - 1, stream);
    std::stable_partition(all.begin(), all.end(), [&](Index g) {
      const auto end = now_.label.begin() + starts[g + 1];
      return std::find(now_.label.begin() + starts[g], end, static_cast<int>(j)) != end;
    });
    Index rows = 0;
    std::size_t n = 0;
    while (n < all.size() && rows < most_rows) {
      rows += starts[all[n] + 1] - starts[all[n]];
      ++n;
    }
    all.resize(n);
    std::sort(all.begin(), all.end());
    return all;
  }

  // Runs of state j in some sequences, cut into stretches of at most so many rows.
  std::vector<Stretch> stretches_of(Index j, const std::vector<Index>& sequences, Index longest) const {
    const std::vector<Index>& starts = c_.problem.source.starts();
    std::vector<Stretch> out;
    for (Index g : sequences)
      for (Index i = starts[g]; i < starts[g + 1]; ++i) {
        const Index begin = i;
        while (i < starts[g + 1] && now_.label[i] == j) ++i;
        const Index n = i - begin, parts = (n + longest - 1) / longest;
        for (Index part = 0; part < parts; ++part)
          out.push_back({begin + n * part / parts, begin + n * (part + 1) / parts});
      }
    return out;
  }

  // Divides stretches of the rows of state j, of a random length; if that fails, proposes new states for a
  // block of rows around one of them, whatever states the rows of the block have; if that fails, divides
  // single rows, as states that last for one row are in no stretch alone. True when one was accepted.
  bool propose(State& state, Index j, Stream& stream) {
    const std::vector<Index> sequences = sequences_of(j, stream);
    const Sequences copy(c_.problem.source, sequences);
    const Index longest = std::lround(2 * std::pow(longest_stretch / 2, stream.uniform()));
    return attempt_birth(state, j, sequences,
                         division_of(state.total, j, sequences, copy, longest, stream)) ||
           attempt_birth(state, j, sequences, block_near(state.total, j, sequences, copy, stream)) ||
           attempt_birth(state, j, sequences, division_of(state.total, j, sequences, copy, 1, stream));
  }

  bool attempt_birth(State& state, Index j, const std::vector<Index>& sequences, const Birth& birth) {
    const Index born = birth.born;
    if (born == 0) return false;
    const std::uint64_t id = c_.memory.id(j);
    Changes changes = Changes().append(born);
    Summary start = start_of(state.total, j, birth);
    std::vector<Index> touched = sequences;
    if (alloc_.fixed_k() > 0 && !make_room(state, j, born, changes, start, touched)) return false;
    if (!attempt(state, std::move(changes), std::move(start), touched, rounds_tried)) return false;
    c_.memory.birth_succeeded(c_.memory.number_of(id));
    return true;
  }

  // For m new states where K is fixed: joins the m disjoint pairs of states other than j that lose least by
  // the data term. False when there are not so many.
  bool make_room(const State& state, Index j, Index m, Changes& changes, Summary& start,
                 std::vector<Index>& touched) const {
    const Index k = state.k();
    const Vec gain = evidence_of_merging(c_.problem.obs, state.total, c_.pool);
    std::vector<std::pair<Index, Index>> pairs;
    for (Index a = 0; a < k; ++a)
      for (Index b = a + 1; b < k; ++b)
        if (a != j && b != j) pairs.push_back({a, b});
    std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& x, const auto& y) {
      return gain[x.first * k + x.second] > gain[y.first * k + y.second];
    });
    std::vector<bool> used(static_cast<std::size_t>(k), false);
    std::vector<Index> gone;  // last first, so that numbers stay valid
    std::vector<std::pair<Index, Index>> joined;
    for (const auto& [a, b] : pairs) {
      if (used[a] || used[b] || static_cast<Index>(joined.size()) == m) continue;
      used[a] = used[b] = true;
      joined.push_back({b, a});
      gone.push_back(b);
    }
    if (static_cast<Index>(joined.size()) < m) return false;
    std::sort(joined.rbegin(), joined.rend());
    for (const auto& [b, a] : joined) {
      changes.merge(a, b);
      start.merge(a, b);
    }
    const std::vector<Index> also = touching(gone), before = touched;
    touched.clear();
    std::set_union(before.begin(), before.end(), also.begin(), also.end(), std::back_inserter(touched));
    return true;
  }

  // The first cluster remains state j, with its mass in all other sequences; the other clusters are new
  // states.
  Birth division_of(const Summary& total, Index j, const std::vector<Index>& sequences, const Sequences& copy,
                    Index longest, Stream& stream) const {
    Birth out;
    out.stretches = stretches_of(j, sequences, longest);
    if (out.stretches.size() < 2) return out;
    const Index wanted = 2 + stream.index(std::min(most_born, c_.options.birth_size - 1));
    std::vector<Stretch> local;
    for (const Stretch& s : out.stretches) local.push_back(copy.local(s));
    const StretchClusters found =
        cluster_stretches(c_.problem.obs, copy.data(), local, expecting_weights(c_.problem.obs, total.t(j)),
                          wanted, stream, c_.pool);
    const Index p = c_.problem.obs.n_features();
    out.born = found.k - 1;
    out.kept.assign(found.t.begin(), found.t.begin() + p);
    const double elsewhere = std::max(0.0, 1 - mass_in(sequences, j) / total.size(j));
    for (Index i = 0; i < p; ++i) out.kept[i] += elsewhere * total.t(j)[i];
    out.t.assign(found.t.begin() + p, found.t.end());
    for (Index g : found.group) out.state.push_back(g - 1);
    return out;
  }

  // One or two new states for a block of random length around a random row of state j (best_cut).
  Birth block_near(const Summary& total, Index j, const std::vector<Index>& sequences, const Sequences& copy,
                   Stream& stream) const {
    const std::vector<Index>& starts = c_.problem.source.starts();
    std::vector<std::pair<Index, Index>> rows;  // row and its sequence
    for (Index g : sequences)
      for (Index i = starts[g]; i < starts[g + 1]; ++i)
        if (now_.label[i] == j) rows.push_back({i, g});
    if (rows.empty()) return {};
    const auto [row, g] = rows[stream.index(static_cast<Index>(rows.size()))];
    const Index half = std::lround(std::pow(longest_stretch, stream.uniform()));
    const Stretch block{std::max(starts[g] + c_.problem.obs.lag(), row - half),
                        std::min(starts[g + 1], row + half + 1)};
    Birth out;
    const Stretch local = copy.local(block);
    const Index shift = block.begin - local.begin;
    for (const auto& part :
         best_cut(c_.problem.obs, copy.data(), local, expecting_weights(c_.problem.obs, total.t(j)))) {
      out.stretches.push_back({part.first.begin + shift, part.first.end + shift});
      out.t.insert(out.t.end(), part.second.begin(), part.second.end());
      out.state.push_back(out.born++);
    }
    return out;
  }

  double mass_in(const std::vector<Index>& sequences, Index j) const {
    double mass = 0;
    for (Index g : sequences) mass += now_.weight[g] * now_.mass[g * now_.k + j];
    return mass;
  }

  // Transitions are counted along the most probable states of the rows.
  Summary start_of(const Summary& total, Index j, const Birth& birth) const {
    const Index old_k = total.k;
    Summary s = total;
    s.append(birth.born);
    std::copy(birth.t.begin(), birth.t.end(), s.edit_t(old_k));
    std::copy(birth.kept.begin(), birth.kept.end(), s.edit_t(j));
    std::vector<int> label = now_.label;
    for (std::size_t i = 0; i < birth.stretches.size(); ++i)
      if (birth.state[i] >= 0)
        std::fill(label.begin() + birth.stretches[i].begin, label.begin() + birth.stretches[i].end,
                  static_cast<int>(old_k + birth.state[i]));
    std::fill(s.pair.begin(), s.pair.end(), 0.0);
    std::fill(s.extra.begin(), s.extra.end(), 0.0);
    const std::vector<Index>& starts = c_.problem.source.starts();
    for (Index g = 0; g + 1 < static_cast<Index>(starts.size()); ++g)
      for (Index i = starts[g] + c_.problem.obs.lag(); i < starts[g + 1]; ++i) {
        if (i == starts[g] + c_.problem.obs.lag())
          s.extra[label[i]] += now_.weight[g];
        else
          s.pair[label[i - 1] * s.k + label[i]] += now_.weight[g];
      }
    return s;
  }

  std::vector<std::uint64_t> ids_;  // of the targets: numbers change when a birth is accepted
};

}  // namespace

std::unique_ptr<Move> make_hmm_birth(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmBirth>(context, alloc);
}

}  // namespace bnpvi::chains
