#include "inference/failed_pairs.h"

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

void FailedPairs::write(Writer& out) const {
  out.integer(static_cast<std::int64_t>(pairs_->size()));
  for (const auto& [ids, failure] : *pairs_) {
    out.integer(static_cast<std::int64_t>(ids.first));
    out.integer(static_cast<std::int64_t>(ids.second));
    out.number(failure.size_a);
    out.number(failure.size_b);
    out.integer(failure.failures);
  }
}

FailedPairs FailedPairs::read(Reader& in) {
  FailedPairs out;
  for (std::int64_t n = in.integer(); n > 0; --n) {
    const auto a = static_cast<std::uint64_t>(in.integer()), b = static_cast<std::uint64_t>(in.integer());
    Failure& f = (*out.pairs_)[{a, b}];
    f.size_a = in.number();
    f.size_b = in.number();
    f.failures = static_cast<int>(in.integer());
  }
  return out;
}

}  // namespace bnpvi
