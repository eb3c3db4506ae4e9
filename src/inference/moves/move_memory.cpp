#include "inference/moves/move_memory.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bnpvi {

// Splits are random, so that one failure means little: five are allowed where a try costs less than 2e4
// operations (a guess), otherwise two. Together with smaller samples this halved the time of whole fits to
// simulated data, with the same answers.
int MoveMemory::allowed_failures(double size) const { return size * p_ < 2e4 ? 5 : 2; }

void MoveMemory::append(Index m) {
  for (Index i = 0; i < m; ++i) {
    ClusterHistory h;
    h.id = h.origin = next_id_++;
    clusters_.push_back(h);
  }
}

Index MoveMemory::number_of(std::uint64_t id) const {
  for (std::size_t j = 0; j < clusters_.size(); ++j)
    if (clusters_[j].id == id) return static_cast<Index>(j);
  return -1;
}

std::vector<std::uint64_t> MoveMemory::ids(const std::vector<Index>& clusters) const {
  std::vector<std::uint64_t> out;
  for (Index j : clusters) out.push_back(id(j));
  return out;
}

std::vector<Index> MoveMemory::numbers_of(const std::vector<std::uint64_t>& ids) const {
  std::vector<Index> out;
  for (std::uint64_t id : ids) out.push_back(number_of(id));
  return out;
}

void MoveMemory::rank(const std::vector<Index>& order) {
  for (std::size_t i = 0; i < order.size(); ++i) clusters_[order[i]].origin = i;
}

void MoveMemory::merge(Index a, Index b) {
  clusters_[a].origin = std::min(clusters_[a].origin, clusters_[b].origin);
  drop(b);
}

void MoveMemory::drop(Index j) {
  failed_merges_.forget(id(j));
  failed_resplits_.forget(id(j));
  tried_refits_.forget(id(j));
  clusters_.erase(clusters_.begin() + j);
}

void MoveMemory::permute(const std::vector<Index>& order) {
  std::vector<ClusterHistory> out;
  for (Index j : order) out.push_back(clusters_[j]);
  clusters_.swap(out);
}

void MoveMemory::merge_failed(Index a, Index b, double size_a, double size_b) {
  failed_merges_.failed({{id(a), size_a}, {id(b), size_b}}, 1);
}

bool MoveMemory::merge_worth_trying(Index a, Index b, double size_a, double size_b) const {
  return failed_merges_.worth_trying({{id(a), size_a}, {id(b), size_b}}, 1);
}

std::vector<SizedCluster> MoveMemory::identified(const std::vector<Index>& group, const Vec& sizes) const {
  std::vector<SizedCluster> out;
  for (std::size_t i = 0; i < group.size(); ++i) out.push_back({id(group[i]), sizes[i]});
  return out;
}

void MoveMemory::resplit_failed(const std::vector<Index>& pair, const Vec& sizes, bool barely_shared) {
  failed_resplits_.failed(identified(pair, sizes), barely_shared ? allowed_failures(0) : 1);
}

// One failure fewer is allowed than for births.
bool MoveMemory::resplit_worth_trying(const std::vector<Index>& pair, const Vec& sizes) const {
  const double size = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  return failed_resplits_.worth_trying(identified(pair, sizes), allowed_failures(size) - 1);
}

void MoveMemory::refit_tried(const std::vector<Index>& group, const Vec& sizes) {
  tried_refits_.failed(identified(group, sizes), 1);
}

bool MoveMemory::refit_worth_trying(const std::vector<Index>& group, const Vec& sizes) const {
  return tried_refits_.worth_trying(identified(group, sizes), 1);
}

void MoveMemory::birth_failed(Index j, double size, bool unsplit) {
  ClusterHistory& h = clusters_[j];
  if (has_changed(h.birth_failed_at, size)) h.birth_failures = 0;
  h.birth_failed_at = size;
  h.birth_failures += unsplit ? 2 : 1;
}

void MoveMemory::birth_succeeded(Index j) {
  clusters_[j].birth_failures = 0;
  clusters_[j].birth_failed_at = -1;
}

bool MoveMemory::birth_worth_trying(Index j, double size, int at_least) const {
  const ClusterHistory& h = clusters_[j];
  return h.birth_failures < std::max(at_least, allowed_failures(size)) ||
         has_changed(h.birth_failed_at, size);
}

void MoveMemory::late_birth_tried(double gain) {
  ++late_births_;
  late_birth_gains_ += gain;
}

double MoveMemory::late_birth_gain() const {
  constexpr double hope = 10;  // nats: a guess
  return (late_birth_gains_ + hope) / (late_births_ + 1);
}

bool MoveMemory::delete_worth_trying(Index j, double size) const {
  const ClusterHistory& h = clusters_[j];
  return h.delete_failed_at < 0 || has_changed(h.delete_failed_at, size);
}

void MoveMemory::write(Writer& out) const {
  out.number(p_);
  out.list(clusters_);
  out.integer(static_cast<std::int64_t>(next_id_));
  failed_merges_.write(out);
  failed_resplits_.write(out);
  tried_refits_.write(out);
  out.number(late_births_);
  out.number(late_birth_gains_);
  out.number(merge_rise_);
}

MoveMemory MoveMemory::read(Reader& in) {
  MoveMemory out;
  out.p_ = in.number();
  out.clusters_ = in.list<std::vector<ClusterHistory>>();
  out.next_id_ = static_cast<std::uint64_t>(in.integer());
  out.failed_merges_ = FailedGroups::read(in);
  out.failed_resplits_ = FailedGroups::read(in);
  out.tried_refits_ = FailedGroups::read(in);
  out.late_births_ = in.number();
  out.late_birth_gains_ = in.number();
  out.merge_rise_ = in.number();
  return out;
}

}  // namespace bnpvi
