#include "inference/moves/failed_groups.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace bnpvi {

namespace {

using Ids = std::vector<std::uint64_t>;

// Sorts the group by identity and returns the identities.
Ids sorted_ids(std::vector<SizedCluster>& group) {
  std::sort(group.begin(), group.end(),
            [](const SizedCluster& x, const SizedCluster& y) { return x.id < y.id; });
  Ids ids;
  for (const SizedCluster& cluster : group) ids.push_back(cluster.id);
  return ids;
}

bool any_has_changed(const Vec& then, const std::vector<SizedCluster>& now) {
  for (std::size_t i = 0; i < now.size(); ++i)
    if (has_changed(then[i], now[i].size)) return true;
  return false;
}

}  // namespace

bool has_changed(double then, double now) { return std::abs(now - then) > 0.1 * then + 0.5; }

FailedGroups::Groups& FailedGroups::edit() {
  if (groups_.use_count() > 1) groups_ = std::make_shared<Groups>(*groups_);
  return *groups_;
}

void FailedGroups::failed(std::vector<SizedCluster> group, int failures) {
  Failure& f = edit()[sorted_ids(group)];
  if (f.sizes.empty() || any_has_changed(f.sizes, group)) f.failures = 0;
  f.sizes.clear();
  for (const SizedCluster& cluster : group) f.sizes.push_back(cluster.size);
  f.failures += failures;
}

bool FailedGroups::worth_trying(std::vector<SizedCluster> group, int allowed) const {
  const auto it = groups_->find(sorted_ids(group));
  return it == groups_->end() || it->second.failures < allowed || any_has_changed(it->second.sizes, group);
}

void FailedGroups::forget(std::uint64_t id) {
  const auto concerned = [id](const auto& group) {
    return std::binary_search(group.first.begin(), group.first.end(), id);
  };
  if (std::none_of(groups_->begin(), groups_->end(), concerned)) return;
  Groups& groups = edit();
  for (auto it = groups.begin(); it != groups.end();) it = concerned(*it) ? groups.erase(it) : std::next(it);
}

void FailedGroups::write(Writer& out) const {
  out.integer(static_cast<std::int64_t>(groups_->size()));
  for (const auto& [ids, failure] : *groups_) {
    out.list(ids);
    out.list(failure.sizes);
    out.integer(failure.failures);
  }
}

FailedGroups FailedGroups::read(Reader& in) {
  FailedGroups out;
  for (std::int64_t n = in.integer(); n > 0; --n) {
    Failure& f = (*out.groups_)[in.list<Ids>()];
    f.sizes = in.list<Vec>();
    f.failures = static_cast<int>(in.integer());
  }
  return out;
}

}  // namespace bnpvi
