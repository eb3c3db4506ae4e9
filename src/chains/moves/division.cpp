#include "chains/moves/division.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "inference/moves/trial.h"

namespace bnpvi::chains {

namespace {

// All but parts_of_state (inst/design/decisions.md) are guesses.
constexpr Index rounds_tried = 10;           // of local and global steps
constexpr double longest_block = 64;         // rows
constexpr Index parts_of_state = 4;          // of the longest stretch of a state that is divided; measured
constexpr Index most_rows = Index{1} << 16;  // of the sequences that a proposal uses, unless one is longer

bool contains(const std::vector<Index>& target, int label) {
  return std::binary_search(target.begin(), target.end(), static_cast<Index>(label));
}

// The stretches, each cut into as many equal parts as leave none longer than 1/m of the longest stretch.
std::vector<Stretch> in_parts(const std::vector<Stretch>& stretches, Index m) {
  Index longest = 1;
  for (const Stretch& s : stretches) longest = std::max(longest, s.end - s.begin);
  const Index most = std::max(Index{1}, longest / m);
  std::vector<Stretch> out;
  for (const Stretch& s : stretches) {
    const Index n = s.end - s.begin, parts = (n + most - 1) / most;
    for (Index i = 0; i < parts; ++i) out.push_back({s.begin + n * i / parts, s.begin + n * (i + 1) / parts});
  }
  return out;
}

// Sum of the observation statistics of all the target's states.
Vec sum_of(const Summary& total, const std::vector<Index>& target) {
  Vec out(total.t(target[0]), total.t(target[0]) + total.shape.p);
  for (std::size_t g = 1; g < target.size(); ++g)
    for (Index i = 0; i < total.shape.p; ++i) out[i] += total.t(target[g])[i];
  return out;
}

}  // namespace

bool HmmDivision::has_room(const State& state, Index j) const {
  if (alloc_.fixed_k() == 0) return true;
  std::vector<std::pair<Index, Index>> pairs;
  for (Index a = 0; a < state.k(); ++a)
    for (Index b = a + 1; b < state.k(); ++b)
      if (may_join(state, a, b)) pairs.push_back({a, b});
  return room_for(1, state, pairs, {j}).size() == 1;
}

Sequences HmmDivision::sequences_of(const std::vector<Index>& target, Stream& stream) const {
  const std::vector<Index>& starts = c_.problem.source.starts();
  std::vector<Index> all = shuffled(static_cast<Index>(starts.size()) - 1, stream);
  const auto others = std::stable_partition(all.begin(), all.end(), [&](Index g) {
    return std::any_of(now_.label.begin() + starts[g], now_.label.begin() + starts[g + 1],
                       [&](int label) { return contains(target, label); });
  });
  all.erase(std::max(others, all.begin() + 1), all.end());
  Index rows = 0;
  std::size_t n = 0;
  while (n < all.size() && rows < most_rows) {
    rows += starts[all[n] + 1] - starts[all[n]];
    ++n;
  }
  all.resize(n);
  std::sort(all.begin(), all.end());
  return Sequences(c_.problem.source, std::move(all));
}

bool HmmDivision::hangs_together(Index begin, Index row) const {
  const Index steps = steps_to_parent(c_.problem.source.back(), row, begin);
  return row == begin || (steps > 0 && row - steps >= begin);
}

std::vector<Stretch> HmmDivision::stretches_of(const std::vector<Index>& target, const Sequences& sequences,
                                               Index longest) const {
  const std::vector<Index>& starts = c_.problem.source.starts();
  std::vector<Stretch> out;
  for (Index g : sequences.numbers())
    for (Index i = starts[g]; i < starts[g + 1];) {
      const Index begin = i;
      while (i < starts[g + 1] && contains(target, now_.label[i]) && hangs_together(begin, i)) ++i;
      const Index n = i - begin, parts = (n + longest - 1) / longest;
      for (Index part = 0; part < parts; ++part)
        out.push_back({begin + n * part / parts, begin + n * (part + 1) / parts});
      if (n == 0) ++i;
    }
  return out;
}

bool HmmDivision::divide(State& state, const std::vector<Index>& target, const Sequences& sequences,
                         std::vector<Stretch> stretches, Index k, double least, Stream& stream) {
  Newborn out;
  out.owner = state.total.owner_of(target[0]);
  out.stretches = in_parts(stretches, target.size() == 1 ? parts_of_state : 1);
  std::vector<Stretch> parts;
  for (const Stretch& s : out.stretches) parts.push_back(sequences.local(s));
  for (Stretch& s : stretches) s = sequences.local(s);
  const Vec all = sum_of(state.total, target);
  StretchClusters found =
      cluster_stretches(c_.problem.obs, sequences.data(), stretches, parts,
                        expecting_weights(c_.problem.obs, all.data()), k, stream, c_.pool);
  join_alike(c_.problem.obs, found, 2);
  const Index p = c_.problem.obs->n_features();
  out.born = found.k - 1;
  out.kept.assign(found.t.begin(), found.t.begin() + p);
  double size = 0;
  for (Index j : target) size += state.total.size(j);
  const double elsewhere = std::max(0.0, 1 - mass_in(sequences.numbers(), target) / size);
  for (Index i = 0; i < p; ++i) out.kept[i] += elsewhere * all[i];
  out.t.assign(found.t.begin() + p, found.t.end());
  for (Index g : found.group) out.state.push_back(g - 1);
  return promises(state, target, sequences, out, least) && propose(state, target, sequences, out);
}

bool HmmDivision::divide_block(State& state, Index j, const Sequences& sequences, double least,
                               Stream& stream) {
  const std::vector<Index>& starts = c_.problem.source.starts();
  std::vector<std::pair<Index, Index>> rows;  // row and its sequence
  for (Index g : sequences.numbers())
    for (Index i = starts[g]; i < starts[g + 1]; ++i)
      if (now_.label[i] == j) rows.push_back({i, g});
  if (rows.empty()) return false;
  const auto [row, g] = rows[stream.index(static_cast<Index>(rows.size()))];
  const Index half = std::lround(std::pow(longest_block, stream.uniform()));
  const Index first = starts[g] + c_.problem.obs->capabilities().lag;
  const int* back = c_.problem.source.back();
  const Stretch block = back ? subtree_around(back, {first, starts[g + 1]}, row, 2 * half + 1)
                             : Stretch{std::max(first, row - half), std::min(starts[g + 1], row + half + 1)};
  const Stretch local = sequences.local(block);
  const std::optional<int> owner = owner_of_block(state, j, sequences, local);
  if (!owner) return false;
  const Index shift = block.begin - local.begin;
  BestCut cut =
      best_cut(c_.problem.obs, sequences.data(), local, expecting_weights(c_.problem.obs, state.total.t(j)));
  for (Stretch& s : cut.stretches) s = {s.begin + shift, s.end + shift};
  const Newborn out{cut.parts, std::move(cut.t), {}, std::move(cut.stretches), std::move(cut.part), *owner};
  return promises(state, {j}, sequences, out, least) && propose(state, {j}, sequences, out);
}

std::optional<int> HmmDivision::owner_of_block(const State& state, Index j, const Sequences& sequences,
                                               const Stretch& block) const {
  const Dataset& data = sequences.data();
  if (!data.classes ||
      std::all_of(data.classes + block.begin, data.classes + block.end, [](int set) { return set == 0; }))
    return 0;
  const auto is_allowed = [&](int owner) {
    return std::all_of(data.classes + block.begin, data.classes + block.end,
                       [&](int set) { return data.class_sets->allows(set, owner); });
  };
  if (is_allowed(state.total.owner_of(j))) return state.total.owner_of(j);
  for (int owner = 1; owner <= static_cast<int>(data.class_sets->n_classes); ++owner)
    if (is_allowed(owner)) return owner;
  return {};
}

std::vector<Stretch> HmmDivision::rows_to_change(const std::vector<Index>& target, const Sequences& sequences,
                                                 const Newborn& birth) const {
  std::vector<Index> states = target;
  for (const Stretch& s : birth.stretches)
    for (Index i = s.begin; i < s.end; ++i)
      if (now_.label[i] >= 0) states.push_back(now_.label[i]);
  std::sort(states.begin(), states.end());
  states.erase(std::unique(states.begin(), states.end()), states.end());
  std::vector<Stretch> out = stretches_of(states, sequences, c_.problem.source.shape().n);
  out.insert(out.end(), birth.stretches.begin(), birth.stretches.end());
  std::sort(out.begin(), out.end(), [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  return out;
}

bool HmmDivision::promises(State& state, const std::vector<Index>& target, const Sequences& sequences,
                           const Newborn& birth, double least) {
  if (forecast(state, target, sequences, birth) >= least) return true;
  if (c_.problem.observer.wants_spared_work() && birth.born > 0) {
    const double reached = reached_without_accepting([&] { propose(state, target, sequences, birth); });
    tell({"forecast of a birth", c_.memory.ids(target), c_.memory.birth_failures(target[0]),
          reached - state.elbo, false});
  }
  return false;
}

double HmmDivision::forecast(const State& state, const std::vector<Index>& target, const Sequences& sequences,
                             const Newborn& birth) const {
  const ObsModel& obs = c_.problem.obs;
  const Index p = obs.n_features();
  double change = 0;
  for (Index g = 0; g < birth.born; ++g) change += used_evidence(obs, birth.t.data() + g * p);
  if (!birth.kept.empty()) {
    change += used_evidence(obs, birth.kept.data());
    for (Index j : target) change -= used_evidence(obs, state.total.t(j));
    return change;
  }
  std::vector<Vec> gone(static_cast<std::size_t>(state.k()));
  const Vec w = expecting_weights(obs, state.total.t(target[0]));
  for (const Stretch& s : birth.stretches)
    add_by_label(obs, sequences.data(), sequences.local(s), &now_.label[s.begin], w, gone);
  for (Index j = 0; j < state.k(); ++j) {
    if (gone[j].empty()) continue;
    Vec left(state.total.t(j), state.total.t(j) + p);
    for (Index i = 0; i < p; ++i) left[i] -= gone[j][i];
    change -= used_evidence(obs, state.total.t(j));
    if (left[0] > 0) change += used_evidence(obs, left.data());
  }
  return change;
}

bool HmmDivision::propose(State& state, const std::vector<Index>& target, const Sequences& sequences,
                          const Newborn& birth) {
  const Index own = static_cast<Index>(target.size()) - 1;
  if (birth.born == 0) return false;
  Room room;
  if (alloc_.fixed_k() > 0) room = room_for(birth.born - own, state, pairs_by_loss(state), target);
  for (Index g = 1; g <= own; ++g) room.joined.push_back({target[0], target[g]});
  if (alloc_.fixed_k() > 0 && room.size() < birth.born) return false;
  Summary start = start_of(state, target, birth);
  Changes changes = room.changes(Changes().append(birth.born, birth.owner));
  const Index idle = alloc_.fixed_k() > 0 ? room.size() - birth.born : 0;
  changes.append(idle);
  room.changes().append(idle).apply(start);
  if (alloc_.fixed_k() > 0) soften(start);
  const std::vector<Index> also = touching(room.gone());
  std::vector<Index> touched;
  const std::vector<Index>& numbers = sequences.numbers();
  std::set_union(numbers.begin(), numbers.end(), also.begin(), also.end(), std::back_inserter(touched));
  std::optional<Windows> windows;
  if (has_windows()) windows.emplace(now_, c_, alloc_, sequences, rows_to_change(target, sequences, birth));
  return attempt(state, std::move(changes), std::move(start), touched, rounds_tried,
                 windows ? &*windows : nullptr);
}

double HmmDivision::mass_in(const std::vector<Index>& sequences, const std::vector<Index>& target) const {
  double mass = 0;
  for (Index g : sequences)
    for (Index j : target) mass += now_.weight[g] * now_.mass[g * now_.k + j];
  return mass;
}

// Transitions are counted along the most probable states of the rows.
Summary HmmDivision::start_of(const State& state, const std::vector<Index>& target,
                              const Newborn& birth) const {
  const Index old_k = state.k(), p = state.total.shape.p, first = target[0];
  Summary s = state.total;
  s.append(birth.born, birth.owner);
  std::copy(birth.t.begin(), birth.t.end(), s.edit_t(old_k));
  std::copy(birth.kept.begin(), birth.kept.end(), s.edit_t(first));
  for (std::size_t g = 1; g < target.size(); ++g) std::fill_n(s.edit_t(target[g]), p, 0.0);
  std::vector<int> label = now_.label;
  if (target.size() > 1)
    for (int& l : label)
      if (contains(target, l)) l = static_cast<int>(first);
  for (std::size_t i = 0; i < birth.stretches.size(); ++i)
    if (birth.state[i] >= 0)
      std::fill(label.begin() + birth.stretches[i].begin, label.begin() + birth.stretches[i].end,
                static_cast<int>(old_k + birth.state[i]));
  Summary counted(s.shape, old_k);
  if (const Summary* earlier = settled_part(state)) counted = *earlier;
  counted.append(birth.born);
  s.pair = counted.pair;
  s.extra = counted.extra;
  const std::vector<Index>& starts = c_.problem.source.starts();
  for (Index g = 0; g + 1 < static_cast<Index>(starts.size()); ++g)
    for (Index first = starts[g] + c_.problem.obs->capabilities().lag, i = first; i < starts[g + 1]; ++i) {
      const Index parent = i - steps_to_parent(c_.problem.source.back(), i, first);
      if (parent == i)
        s.extra[label[i]] += now_.weight[g];
      else
        s.of_pair(label[parent], label[i], position_of(c_.problem.source.position(), i)) += now_.weight[g];
    }
  return s;
}

}  // namespace bnpvi::chains
