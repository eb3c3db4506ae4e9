#include "chains/moves/windows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chains/model/sequence_rows.h"
#include "kernels/kernels.h"

namespace bnpvi::chains {

namespace {

// All are guesses.
constexpr Index margin = 2;                // rows
constexpr double sure_end = 0.95;          // probability of a state beside a window: w is then at least 0.9
constexpr double most_of_sequences = 0.6;  // largest share of the sequences' rows for which windows are used
constexpr Index rows_of_part = 2048;       // rows that one thread processes
constexpr Index most_parts = 8;

// The new numbers of clusters under changes (Changes); −1: the cluster is gone.
class Numbers {
 public:
  explicit Numbers(Index k) : now(static_cast<std::size_t>(k)) {
    std::iota(now.begin(), now.end(), Index{0});
  }
  void append(Index) {}
  void drop(Index j) {
    for (Index& x : now) x = x == j ? -1 : x - (x > j);
  }
  void merge(Index a, Index b) {
    for (Index& x : now) x = x == b ? a : x - (x > b);
  }
  void permute(const std::vector<Index>& order) {
    for (Index& x : now)
      if (x >= 0) x = std::find(order.begin(), order.end(), x) - order.begin();
  }

  std::vector<Index> now;
};

std::vector<Index> all_numbers(Index k) { return Numbers(k).now; }

}  // namespace

Windows::Windows(const Snapshot& now, const MoveContext& context, const HmmAlloc& alloc,
                 const Sequences& sequences, const std::vector<Stretch>& around)
    : c_(context), alloc_(alloc), sequences_(sequences) {
  place(now, c_.problem.obs->capabilities().lag, around);
  if (!worthwhile_) return;
  const Index batch = places_of_groups(c_.problem.source)[sequences.numbers()[0]].batch;
  before_ = pass(now.at[batch]->globals, all_numbers(now.k), worthwhile_, [&](Index i, double log_sum) {
    return windows_[i].share = share_of(now, windows_[i], log_sum);
  });
  for (const Window& window : windows_) worthwhile_ &= window.share > 0;
}

void Windows::place(const Snapshot& now, Index lag, const std::vector<Stretch>& around) {
  const std::vector<Index>& starts = c_.problem.source.starts();
  Index all = 0, longest = 0;
  for (Index g : sequences_.numbers()) all += starts[g + 1] - starts[g];
  for (const Stretch& s : around) {
    const auto after = std::upper_bound(starts.begin(), starts.end(), s.begin);
    const Index first = *(after - 1) + lag, last = *after;
    Window x{{std::max(first, s.begin - margin), std::min(last, s.end + margin)}, {}, 0};
    while (x.rows.begin > first && now.messages[x.rows.begin - 1].r < sure_end) --x.rows.begin;
    while (x.rows.end < last && now.messages[x.rows.end].r < sure_end) ++x.rows.end;
    if (x.rows.begin >= x.rows.end) continue;
    if (!windows_.empty() && windows_.back().rows.end > first && windows_.back().rows.end >= x.rows.begin) {
      x.rows = {windows_.back().rows.begin, std::max(windows_.back().rows.end, x.rows.end)};
      windows_.pop_back();
    }
    x.ends.before = x.rows.begin > first ? now.label[x.rows.begin - 1] : -1;
    x.ends.after = x.rows.end < last ? now.label[x.rows.end] : -1;
    windows_.push_back(x);
  }
  for (const Window& window : windows_) {
    rows_ += window.rows.end - window.rows.begin;
    longest = std::max(longest, window.rows.end - window.rows.begin);
  }
  worthwhile_ = rows_ > 0 && longest <= segment_rows && rows() < most_of_sequences * static_cast<double>(all);
}

double Windows::share_of(const Snapshot& now, const Window& x, double log_sum) const {
  double log_scale = 0;
  for (Index i = x.rows.begin; i < x.rows.end; ++i) log_scale += now.log_scale[i];
  const EndMessages before = x.ends.before < 0 ? EndMessages() : now.messages[x.rows.begin - 1],
                    after = x.ends.after < 0 ? EndMessages() : now.messages[x.rows.end];
  const std::vector<Index>& starts = c_.problem.source.starts();
  const Index g = std::upper_bound(starts.begin(), starts.end(), x.rows.begin) - starts.begin() - 1;
  return now.weight[g] * probability_of_ends(x.ends, before, after, log_scale, log_sum);
}

struct Windows::Part {
  Index begin, end;  // windows
  const Chain& chain;
  const Weights& weights;
  const std::vector<int>& owner;
  const std::vector<Index>& number;
  PieceWork& work;
  Index at;  // among the parts of `work`
  Vec pair, into, start;
  double entropy = 0;
  bool sure = true;
};

void Windows::pass_part(Part& part, const std::function<double(Index, double)>& share) const {
  const Index k = part.chain.k;
  std::vector<Index> rows;
  Index longest = 0;
  for (Index i = part.begin; i < part.end; ++i) {
    const Stretch local = sequences_.local(windows_[i].rows);
    for (Index row = local.begin; row < local.end; ++row) rows.push_back(row);
    longest = std::max(longest, local.end - local.begin);
  }
  const Index n = static_cast<Index>(rows.size());
  const auto sized = [](Index size) { return Vec(static_cast<std::size_t>(size)); };
  Vec log_e = sized(n * k), e = sized(n * k), alpha = sized((longest + 1) * k), scale = sized(longest),
      beta = sized(k), first_count = sized(k), pair = sized(k * k);
  std::vector<std::uint8_t> first(static_cast<std::size_t>(longest));
  log_likelihoods(part.work.block(part.at), part.weights, part.owner, rows.data(), n, log_e.data());
  make_potentials(n, k, log_e.data(), e.data(), false);
  double *r = log_e.data(), *nu = e.data();
  for (Index i = part.begin; i < part.end; ++i) {
    c_.pool.poll();
    const Window& x = windows_[i];
    const Index m = x.rows.end - x.rows.begin;
    const auto numbered = [&](Index j) { return j < 0 ? j : part.number[j]; };
    const Ends ends{numbered(x.ends.before), numbered(x.ends.after)};
    std::fill(first_count.begin(), first_count.end(), 0.0);
    const WindowMessages found = messages_between(part.chain, m, ends, r, nu, alpha.data(), scale.data(),
                                                  beta.data(), first.data(), first_count.data());
    part.sure = part.sure && found.sure;
    if (!part.sure) return;
    const double c = share(i, found.log_sum);
    for (Index t = 0; t < m * k; ++t) {
      r[t] *= c;
      nu[t] *= c;
    }
    kernels().add_product_tn(m, k, k, alpha.data(), k, nu, k, part.pair.data(), k);
    for (Index j = 0; j < k; ++j) {
      part.start[j] += c * first_count[j];
      if (ends.after >= 0) part.into[j * k + ends.after] += r[(m - 1) * k + j];
    }
    part.entropy += c * found.entropy;
    r += m * k;
    nu += m * k;
  }
  part.work.collect(part.at, rows.data(), n, k, log_e.data(), nullptr);
}

Summary Windows::pass(const Globals& globals, const std::vector<Index>& number, bool& sure,
                      const std::function<double(Index, double)>& share) const {
  const Problem& problem = c_.problem;
  const ObsModel& obs = problem.obs;
  const auto weights = std::make_shared<Weights>(*visiting_weights(problem, globals.effective));
  weights->pack(obs, sequences_.data());
  const Visit in{sequences_.data(), sequences_.numbers(), obs, globals, weights, c_.pool};
  const Chain chain = alloc_.expected_chain(globals);
  const Index k = chain.k, n_parts = std::clamp<Index>(rows_ / rows_of_part, 1, most_parts);
  PieceWork work(in, k, {0, 0, 0, n_parts}, &c_.pool);
  std::vector<Part> parts;
  Index done = 0, next = 0;
  for (Index at = 0; at < n_parts; ++at) {
    const Index begin = next;
    while (next < static_cast<Index>(windows_.size()) && done < rows_ * (at + 1) / n_parts) {
      done += windows_[next].rows.end - windows_[next].rows.begin;
      ++next;
    }
    const std::size_t pairs = static_cast<std::size_t>(k * k), states = static_cast<std::size_t>(k);
    parts.push_back({begin, next, chain, *weights, globals.effective.owner, number, work, at, Vec(pairs),
                     Vec(pairs), Vec(states)});
  }
  c_.pool.run(n_parts, [&](Index at) { pass_part(parts[at], share); });
  Summary out(alloc_.shape(obs), k);
  work.finish(out.edit_t(0));
  std::vector<Vec> pairs;
  for (Part& part : parts) {
    sure = sure && part.sure;
    out.entropy() += part.entropy;
    for (Index j = 0; j < k; ++j) out.extra[j] += part.start[j];
    for (Index i = 0; i < k * k; ++i) out.pair[i] += part.into[i];
    pairs.push_back(std::move(part.pair));
  }
  out.entropy() += add_transitions(chain, pairs, Vec(out.pair.size(), 0.0), out.pair);
  return out;
}

Summary Windows::visit(const Globals& globals, const std::vector<Index>& number, bool& sure) const {
  return pass(globals, number, sure, [&](Index i, double) { return windows_[i].share; });
}

WindowRounds::WindowRounds(const MoveContext& context, const State& state, Changes changes,
                           const Windows& windows)
    : Rounds(context, std::move(changes)), windows_(windows) {
  Numbers numbers(state.k());
  changes_.apply(numbers);
  number_ = std::move(numbers.now);
  rest_ = state.total;
  rest_.add(windows.before(), -1);
  changes_.apply(rest_);
}

void WindowRounds::visit(const Globals& globals, Summary& total) {
  total.add(windows_.visit(globals, number_, sure_));
}

}  // namespace bnpvi::chains
