#include "networks/partition_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "inference/learn/check_progress.h"
#include "networks/bisection.h"

namespace bnpvi::networks {

namespace {

constexpr double worth_it = 1e-8;  // a gain of J that is more than rounding

void tell(Observer& observer, double before, const Partition& now) {
  observer.replaced(before, now.log_joint(), [&] { return now.anew().log_joint(); });
}
constexpr Index max_sweeps = 20;  // after a disturbance; a guess
constexpr int bisections = 4;     // tries of halves by links; a guess

}  // namespace

PartitionSearch::PartitionSearch(Partition start, const SearchOptions& options, Pool& pool)
    : now_(std::move(start)),
      links_(now_.links()),
      options_(options),
      pool_(pool),
      nodes_(now_.labels().size()) {
  std::iota(nodes_.begin(), nodes_.end(), 0);
}

void PartitionSearch::write(Writer& out) const {
  out.list(now_.labels());
  if (links_.labelled()) out.list(now_.owners());
  out.list(nodes_);
  out.integer(without_gain_);
}

void PartitionSearch::read(Reader& in) {
  std::vector<int> labels = read_labels(in, links_.n());
  now_ = now_.with_labels(labels, read_owners(in, links_, labels));
  nodes_ = read_labels(in, links_.n());
  without_gain_ = in.integer();
  require_stored(
      without_gain_ >= 0 && std::find(nodes_.begin(), nodes_.end(), links_.n() - 1) != nodes_.end(),
      "the order of nodes");
}

LapRecord PartitionSearch::lap(Index n) {
  pool_.poll();
  LapRecord record;
  number_ = static_cast<std::uint64_t>(n);
  const double before = now_.log_joint();
  Stream order(options_.seed, Purpose::batch_order, number_);
  draw_to_front(nodes_, static_cast<Index>(nodes_.size()), order);
  if (options_.births && options_.deletes)
    settle(now_, nodes_);
  else
    visit_existing(now_);
  if (options_.births) splits(record);
  if (options_.merges) {
    const double before_merges = now_.log_joint();
    const Index merged = now_.merge_all();
    if (merged > 0) tell(*options_.observer, before_merges, now_);
    record.merges += merged;
    record.merges_tried += now_.k() * (now_.k() - 1) / 2;
  }
  if (now_.k() > 1) divisions();
  if (options_.births && options_.merges && options_.deletes) disturbances(record);
  record.log_joint = now_.log_joint();
  without_gain_ =
      record.log_joint > before + std::max(worth_it, options_.tol * units()) ? 0 : without_gain_ + 1;
  record.lap = n;
  record.elbo = std::numeric_limits<double>::quiet_NaN();
  record.k = now_.k();
  return record;
}

void PartitionSearch::settle(Partition& p, const std::vector<int>& nodes) {
  for (Index s = 0; s < max_sweeps && p.sweep(nodes) > 0; ++s) pool_.poll();
}

// Moves nodes one by one among the existing clusters, none of which may become empty: K stays fixed.
void PartitionSearch::visit_existing(Partition& p) {
  std::vector<int> all(static_cast<std::size_t>(p.k()));
  std::iota(all.begin(), all.end(), 0);
  for (Index s = 0; s < max_sweeps; ++s) {
    Index moved = 0;
    for (int node : nodes_)
      if (p.size(p.labels()[node]) > 1) moved += p.sweep({node}, all);
    if (moved == 0) break;
  }
}

Stream PartitionSearch::stream(std::uint64_t kind, Index trial) const {
  return Stream(options_.seed, Purpose::birth_seeds, number_, kind * 1000000007ULL + trial);
}

// Runs trials, each on a copy of the present partition; change() changes the copy, and returns false if it
// cannot. Returns the trials that gain, best first.
template <class F>
std::vector<PartitionSearch::Trial> PartitionSearch::tried(std::uint64_t kind, Index n, F change) {
  std::vector<Trial> out(static_cast<std::size_t>(n));
  const double least = now_.log_joint() + worth_it;
  pool_.run(n, [&](Index t) {
    pool_.poll();
    Partition p = now_;
    Stream random = stream(kind, t);
    if (!change(p, t, random)) return;
    const double found = p.log_joint();
    if (found > least) out[t] = {std::move(p), found};
  });
  out.erase(std::remove_if(out.begin(), out.end(), [](const Trial& t) { return !t.result; }), out.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const Trial& a, const Trial& b) { return a.log_joint > b.log_joint; });
  return out;
}

void PartitionSearch::accept(Partition next) {
  tell(*options_.observer, now_.log_joint(), next);
  now_ = std::move(next);
}

// Tries to split every cluster in two.
void PartitionSearch::splits(LapRecord& record) {
  const Index k = now_.k();
  record.births_tried += k;
  const auto found = tried(1, k, [&](Partition& p, Index t, Stream& random) {
    const double gain = p.divide(t, p.k(), random);
    if (p.has_degrees()) {
      const std::vector<int> half = bisected(links_, now_.members(t), bisections, random);
      Partition other = now_;
      if (!half.empty() && other.divide(t, half) > gain) p = std::move(other);
    }
    return p.k() > k;
  });
  if (found.empty()) return;
  std::vector<std::vector<int>> labels;
  for (const Trial& trial : found) labels.push_back(trial.result->labels());
  record.births += make_together(now_, labels, *options_.observer);
  settle(now_, nodes_);
}

// Tries to divide pairs of clusters anew; K stays, or falls by one if one of the two becomes empty.
void PartitionSearch::divisions() {
  const Index n = std::min<Index>(16, now_.k() * (now_.k() - 1) / 2);
  const auto found = tried(2, n, [&](Partition& p, Index, Stream& random) {
    const Index a = random.index(p.k());
    Index b = random.index(p.k() - 1);
    b += b >= a;
    if (p.owner(a) != p.owner(b)) return false;
    p.divide(a, b, random);
    return p.k() == now_.k() || options_.deletes;
  });
  if (!found.empty()) accept(*found.front().result);
}

void PartitionSearch::disturbances(LapRecord& record) {
  const Index trials = now_.has_degrees() && !links_.labelled() ? 10 : 8;
  const auto found = tried(3, trials, [&](Partition& p, Index t, Stream& random) {
    const Index k = p.k();
    if (t >= 8 && links_.n() > 1) {
      const Index most = std::min<Index>(links_.n(), 2 * k + 10);
      p = p.with_labels(divided(links_, 2 + random.index(most - 1), bisections, random));
    } else if (t % 2 == 0 && k > 1) {
      const Index a = random.index(k);
      Index b = random.index(k - 1);
      b += b >= a;
      if (!p.can_merge(a, b)) return false;
      p.merge(std::min(a, b), std::max(a, b));
    } else {
      p.divide(random.index(k), k, random);
    }
    if (t < 8 && t % 4 >= 2) p.divide(random.index(p.k()), p.k(), random);
    settle(p, nodes_);
    p.merge_all();
    settle(p, nodes_);
    return true;
  });
  if (found.empty()) return;
  const Index before = now_.k();
  accept(*found.front().result);
  if (now_.k() > before) ++record.births;
  if (now_.k() < before) ++record.deletes;
}

Index make_together(Partition& now, const std::vector<std::vector<int>>& splits, Observer& observer) {
  const int newborn = static_cast<int>(now.k());
  Index made = 0;
  for (const std::vector<int>& split : splits) {
    std::vector<int> labels = now.labels();
    Owners owner = now.owners();
    owner.push_back(0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (split[i] != newborn) continue;
      owner.back() = now.owner(labels[i]);
      labels[i] = static_cast<int>(now.k());
    }
    Partition next = now.with_labels(std::move(labels), std::move(owner));
    if (!(next.log_joint() > now.log_joint() + worth_it)) continue;
    tell(observer, now.log_joint(), next);
    now = std::move(next);
    ++made;
  }
  return made;
}

}  // namespace bnpvi::networks
