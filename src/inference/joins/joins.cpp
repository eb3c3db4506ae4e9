#include "inference/joins/joins.h"

#include <algorithm>
#include <cmath>

#include "inference/learn/alloc_capabilities.h"

namespace bnpvi {

void JoinChanges::add(const JoinChanges& other) {
  for (std::size_t i = 0; i < value_.size(); ++i) value_[i] += other.value_[i];
}

void JoinChanges::merge(Index a, Index b) {
  for (Index other = 0; other < k_; ++other) {
    if (other == b) continue;
    double *from = of(b, other), *to = of(a, other);
    for (Index i = 0; i < width_; ++i) {
      if (other != a) to[i] += from[i];
      from[i] = 0;
    }
  }
}

double entropy_part(double x) { return x > 0 ? -x * std::log(x) : 0; }

void AloneKind::add(const JoinItem& x, double sign, Index i, Index j, JoinChanges& out) {
  if (x.size < 2) return;
  part_.resize(static_cast<std::size_t>(x.size));
  for (Index l = 0; l < x.size; ++l) part_[l] = entropy_part(x.value[l]);
  const auto add_pair = [&](Index l, Index m) {
    *out.of(x.id[l], x.id[m]) +=
        sign * x.weight * (entropy_part(x.value[l] + x.value[m]) - part_[l] - part_[m]);
  };
  for (Index l = 0; l < x.size; ++l) {
    if (i < 0) {
      for (Index m = l + 1; m < x.size; ++m) add_pair(l, m);
      continue;
    }
    if (l != i) add_pair(l, i);
    if (j >= 0 && j != i && l != i && l != j) add_pair(l, j);
  }
}

void AloneKind::join(const JoinItem& x, Index i, Index j) const {
  x.value[i] += x.value[j];
  std::copy(x.value + j + 1, x.value + x.size, x.value + j);
}

namespace {

// Collects the rows that belong to several clusters, by chunk of the visit.
class RowCollector final : public ResponsibilitySink {
 public:
  void begin(Index n_chunks) override {
    for (Index i = 0; i < n_chunks; ++i) part_.push_back(std::make_unique<JoinTable<AloneKind>>());
  }

  void visit(Index chunk, const Index*, const Responsibilities& r, FeatureBlock& block) override {
    std::vector<int> id;
    Vec value;
    for (Index i = 0; i < r.n; ++i) {
      id.clear();
      value.clear();
      for (Index l = 0; l < r.width; ++l) {
        const double x = r.value[i * r.width + l];
        if (!(x > 0)) continue;
        id.push_back(static_cast<int>(r.sparse ? r.cluster[i * r.width + l] : l));
        value.push_back(x);
      }
      if (id.size() > 1) part_[chunk]->append(id, value, block.weight(i));
    }
  }

  std::vector<std::unique_ptr<JoinTable<AloneKind>>> part_;
};

}  // namespace

Summary explicit_step(const AllocModel& alloc, const Visit& visit, JoinParts& parts) {
  if (const UnitJoins* own = alloc.capabilities().joins) return own->explicit_step(visit, parts);
  RowCollector rows;
  Visit watched = visit;
  watched.sink = &rows;
  Summary out = alloc.local_step(watched);
  for (auto& part : rows.part_) parts.push_back(std::move(part));
  return out;
}

}  // namespace bnpvi
