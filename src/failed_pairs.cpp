#include "failed_pairs.h"

#include <algorithm>
#include <cmath>

namespace bnpvi {

bool has_changed(double then, double now) { return std::abs(now - then) > 0.1 * then + 0.5; }

FailedPairs::Pairs& FailedPairs::edit() {
  if (pairs_.use_count() > 1) pairs_ = std::make_shared<Pairs>(*pairs_);
  return *pairs_;
}

void FailedPairs::failed(SizedCluster a, SizedCluster b, int failures) {
  if (a.id > b.id) std::swap(a, b);
  Failure& f = edit()[{a.id, b.id}];
  if (has_changed(f.size_a, a.size) || has_changed(f.size_b, b.size)) f.failures = 0;
  f.size_a = a.size;
  f.size_b = b.size;
  f.failures += failures;
}

bool FailedPairs::worth_trying(SizedCluster a, SizedCluster b, int allowed) const {
  if (a.id > b.id) std::swap(a, b);
  const auto it = pairs_->find({a.id, b.id});
  return it == pairs_->end() || it->second.failures < allowed || has_changed(it->second.size_a, a.size) ||
         has_changed(it->second.size_b, b.size);
}

void FailedPairs::forget(std::uint64_t id) {
  const auto concerned = [id](const auto& pair) { return pair.first.first == id || pair.first.second == id; };
  if (std::none_of(pairs_->begin(), pairs_->end(), concerned)) return;
  Pairs& pairs = edit();
  for (auto it = pairs.begin(); it != pairs.end();) it = concerned(*it) ? pairs.erase(it) : std::next(it);
}

}  // namespace bnpvi
