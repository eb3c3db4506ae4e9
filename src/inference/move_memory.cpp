#include "inference/move_memory.h"

#include <algorithm>
#include <cmath>

namespace bnpvi {

namespace {

bool changed(double then, double now) { return std::abs(now - then) > 0.1 * then + 0.5; }

}  // namespace

// Splits are random, so one failure proves little; where they are cheap, more are tried.
int MoveMemory::allowed_failures(double size) const { return size * p_ < 2e4 ? 5 : 2; }

void MoveMemory::append(Index m) {
  for (Index i = 0; i < m; ++i) {
    ClusterHistory h;
    h.id = next_id_++;
    clusters_.push_back(h);
  }
}

Index MoveMemory::number_of(std::uint64_t id) const {
  for (std::size_t j = 0; j < clusters_.size(); ++j)
    if (clusters_[j].id == id) return static_cast<Index>(j);
  return -1;
}

void MoveMemory::drop(Index j) { clusters_.erase(clusters_.begin() + j); }

void MoveMemory::permute(const std::vector<Index>& order) {
  std::vector<ClusterHistory> out;
  for (Index j : order) out.push_back(clusters_[j]);
  clusters_.swap(out);
}

void MoveMemory::remember(Pairs& pairs, Index a, Index b, double size_a, double size_b, int failures) const {
  if (id(a) > id(b)) {
    std::swap(a, b);
    std::swap(size_a, size_b);
  }
  PairFailure& f = pairs[{id(a), id(b)}];
  if (changed(f.size_a, size_a) || changed(f.size_b, size_b)) f.failures = 0;
  f.size_a = size_a;
  f.size_b = size_b;
  f.failures += failures;
}

bool MoveMemory::worth_trying(const Pairs& pairs, Index a, Index b, double size_a, double size_b,
                              int allowed) const {
  if (id(a) > id(b)) {
    std::swap(a, b);
    std::swap(size_a, size_b);
  }
  const auto it = pairs.find({id(a), id(b)});
  return it == pairs.end() || it->second.failures < allowed || changed(it->second.size_a, size_a) ||
         changed(it->second.size_b, size_b);
}

void MoveMemory::merge_failed(Index a, Index b, double size_a, double size_b) {
  remember(failed_merges_, a, b, size_a, size_b, 1);
}

bool MoveMemory::merge_worth_trying(Index a, Index b, double size_a, double size_b) const {
  return worth_trying(failed_merges_, a, b, size_a, size_b, 1);
}

void MoveMemory::resplit_failed(Index a, Index b, double size_a, double size_b, bool hopeless) {
  remember(failed_resplits_, a, b, size_a, size_b, hopeless ? allowed_failures(0) : 1);
}

bool MoveMemory::resplit_worth_trying(Index a, Index b, double size_a, double size_b) const {
  return worth_trying(failed_resplits_, a, b, size_a, size_b, allowed_failures(size_a + size_b) - 1);
}

void MoveMemory::birth_failed(Index j, double size, bool unsplit) {
  ClusterHistory& h = clusters_[j];
  if (changed(h.birth_failed_at, size)) h.birth_failures = 0;
  h.birth_failed_at = size;
  h.birth_failures += unsplit ? 2 : 1;
}

void MoveMemory::birth_succeeded(Index j) {
  clusters_[j].birth_failures = 0;
  clusters_[j].birth_failed_at = -1;
}

bool MoveMemory::birth_worth_trying(Index j, double size, int at_least) const {
  const ClusterHistory& h = clusters_[j];
  return h.birth_failures < std::max(at_least, allowed_failures(size)) || changed(h.birth_failed_at, size);
}

bool MoveMemory::delete_worth_trying(Index j, double size) const {
  const ClusterHistory& h = clusters_[j];
  return h.delete_failed_at < 0 || changed(h.delete_failed_at, size);
}

void MoveMemory::write(Writer& out) const {
  out.number(p_);
  out.list(clusters_);
  out.integer(static_cast<std::int64_t>(next_id_));
  for (const Pairs* pairs : {&failed_merges_, &failed_resplits_}) {
    out.integer(static_cast<std::int64_t>(pairs->size()));
    for (const auto& [ids, failure] : *pairs) {
      out.integer(static_cast<std::int64_t>(ids.first));
      out.integer(static_cast<std::int64_t>(ids.second));
      out.number(failure.size_a);
      out.number(failure.size_b);
      out.integer(failure.failures);
    }
  }
}

MoveMemory MoveMemory::read(Reader& in) {
  MoveMemory out;
  out.p_ = in.number();
  out.clusters_ = in.list<std::vector<ClusterHistory>>();
  out.next_id_ = static_cast<std::uint64_t>(in.integer());
  for (Pairs* pairs : {&out.failed_merges_, &out.failed_resplits_})
    for (std::int64_t n = in.integer(); n > 0; --n) {
      const auto a = static_cast<std::uint64_t>(in.integer()), b = static_cast<std::uint64_t>(in.integer());
      PairFailure& f = (*pairs)[{a, b}];
      f.size_a = in.number();
      f.size_b = in.number();
      f.failures = static_cast<int>(in.integer());
    }
  return out;
}

}  // namespace bnpvi
