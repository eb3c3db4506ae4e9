// The explicit q(z) of chains and trees: P(z_pa(t), z_t) of each row, in which states can be joined.
#include <algorithm>

#include "chains/model/hmm.h"
#include "foundation/chunks.h"

namespace bnpvi::chains {

namespace {

// Data of a row: the states that it and its parent may be in, and P(z_pa(t), z_t) over them (s × s, row =
// parent), or P(z_t) for a first row. Rows that are certain of one state are left out, as they have no
// entropy.
struct ExplicitRow {
  std::vector<int> id;
  Vec value;
};

// For pairs of neighbouring rows: the entropy H(z_{t−1}, z_t) − H(z_{t−1}) under the chain with these joint
// probabilities. Joining states adds rows and columns, so that the joined q(z) is again a chain, whose
// expected transitions are the sums.
class NeighbourKind {
 public:
  void add(const JoinItem& x, double sign, Index, Index, JoinChanges& out) {
    const Index s = x.size;
    if (s < 2) return;
    const double* v = x.value;
    part_.resize(static_cast<std::size_t>(s * s));
    before_.assign(static_cast<std::size_t>(s), 0.0);
    for (Index l = 0; l < s; ++l)
      for (Index m = 0; m < s; ++m) {
        part_[l * s + m] = entropy_part(v[l * s + m]);
        before_[l] += v[l * s + m];
      }
    const auto joined = [&](Index i, Index j) { return entropy_part(v[i] + v[j]) - part_[i] - part_[j]; };
    for (Index a = 0; a < s; ++a)
      for (Index b = a + 1; b < s; ++b) {
        double change = 0;
        for (Index z = 0; z < s; ++z)
          if (z != a && z != b) change += joined(a * s + z, b * s + z) + joined(z * s + a, z * s + b);
        const Index aa = a * s + a, ab = a * s + b, ba = b * s + a, bb = b * s + b;
        change += entropy_part(v[aa] + v[ab] + v[ba] + v[bb]) - part_[aa] - part_[ab] - part_[ba] - part_[bb];
        change -= entropy_part(before_[a] + before_[b]) - entropy_part(before_[a]) - entropy_part(before_[b]);
        *out.of(x.id[a], x.id[b]) += sign * x.weight * change;
      }
  }

  void join(const JoinItem& x, Index i, Index j) const {
    const Index s = x.size;
    double* v = x.value;
    for (Index m = 0; m < s; ++m) v[i * s + m] += v[j * s + m];
    for (Index l = 0; l < s; ++l) v[l * s + i] += v[l * s + j];
    double* to = v;
    for (Index l = 0; l < s; ++l)
      for (Index m = 0; m < s; ++m)
        if (l != j && m != j) *to++ = v[l * s + m];
  }

  void join_ids(Index, Index) const {}

 private:
  Vec part_, before_;
};

// Collects the rows of a visit, by number.
class ChainCollector final : public ResponsibilitySink {
 public:
  explicit ChainCollector(const Visit& in)
      : data_(in.data), row_(static_cast<std::size_t>(in.data.n)), is_first_(row_.size()) {
    for (Index unit : in.units) {
      const Index first = in.data.starts[unit] + in.obs.capabilities().lag;
      for (Index t = first; t < in.data.starts[unit + 1]; ++t)
        is_first_[t] = steps_to_parent(in.data.back, t, first) == 0;
    }
  }
  void begin(Index) override {}

  void visit(Index, const Index* rows, const Responsibilities& r, FeatureBlock&) override {
    for (Index i = 0; i < r.n; ++i) {
      if (!is_first_[rows[i]]) continue;
      ExplicitRow row;
      for (Index l = 0; l < r.width; ++l) {
        const double p = r.value[i * r.width + l];
        if (p < negligible) continue;
        row.id.push_back(static_cast<int>(r.sparse ? r.cluster[i * r.width + l] : l));
        row.value.push_back(p);
      }
      if (row.id.size() > 1) row_[rows[i]] = std::move(row);
    }
  }

  bool wants_joint() const override { return true; }

  void visit_joint(Index t, const Vec& joint) override {
    Index k = 0;
    while (k * k < static_cast<Index>(joint.size())) ++k;
    ExplicitRow row;
    for (Index l = 0; l < k; ++l)
      for (Index m = 0; m < k; ++m)
        if (joint[l * k + m] >= negligible)
          for (Index j : {l, m})
            if (std::find(row.id.begin(), row.id.end(), j) == row.id.end())
              row.id.push_back(static_cast<int>(j));
    if (row.id.size() < 2) return;
    for (int l : row.id)
      for (int m : row.id) {
        const double p = joint[l * k + m];
        row.value.push_back(p < negligible ? 0 : p);
      }
    row_[t] = std::move(row);
  }

  // Puts the rows into the tables of `parts`, consecutive ones together.
  void finish(JoinParts& parts) {
    const Index n = static_cast<Index>(row_.size()), n_chunks = count_chunks(n);
    for (Index chunk = 0; chunk < n_chunks; ++chunk) {
      auto first = std::make_unique<JoinTable<AloneKind>>();
      auto later = std::make_unique<JoinTable<NeighbourKind>>();
      for (Index t = chunk_begin(n, n_chunks, chunk); t < chunk_end(n, n_chunks, chunk); ++t) {
        const ExplicitRow row = std::move(row_[t]);
        if (row.id.empty()) continue;
        if (is_first_[t])
          first->append(row.id, row.value, data_.weight_of(t));
        else
          later->append(row.id, row.value, data_.weight_of(t));
      }
      parts.push_back(std::move(first));
      parts.push_back(std::move(later));
    }
  }

 private:
  const Dataset& data_;
  std::vector<ExplicitRow> row_;
  std::vector<std::uint8_t> is_first_;
};

}  // namespace

Summary HmmAlloc::explicit_step(const Visit& in, JoinParts& parts) const {
  ChainCollector rows(in);
  Visit watched = in;
  watched.sink = &rows;
  Summary out = local_step(watched);
  rows.finish(parts);
  return out;
}

}  // namespace bnpvi::chains
