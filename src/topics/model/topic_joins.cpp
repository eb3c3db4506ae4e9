// The explicit q(z) of documents: topics of each word, and topic counts of each document, that can be joined.
#include <algorithm>

#include "foundation/special.h"
#include "topics/model/topic_model.h"
#include "topics/model/topic_sum.h"

namespace bnpvi::topics {

namespace {

// The tangent of log Γ(N + a) at θ: TopicExtra of one share.
void add_tangent(double count, double a, double times, double* to) {
  const Share s{0, 0, count, 0, count + a};
  add_tangents(Shares(&s, 1), times, to);
}

// Counts N_dk of a document. On joining topics a and b, the tangents of both are replaced by one at N_da +
// N_db + a_a + a_b, with the prior a = απ of the visit. At later globals this is a lower bound, which is
// enough to rank pairs.
class CountKind {
 public:
  explicit CountKind(Vec prior) : prior_(std::move(prior)) {}

  void add(const JoinItem& x, double sign, Index i, Index j, JoinChanges& out) {
    alone_.assign(static_cast<std::size_t>(x.size * TopicExtra::size), 0.0);
    for (Index l = 0; l < x.size; ++l)
      add_tangent(x.value[l], prior_[x.id[l]], x.weight, alone_.data() + l * TopicExtra::size);
    const auto add_pair = [&](Index l, Index m) {
      double* to = out.of(x.id[l], x.id[m]) + 1;
      add_tangent(x.value[l] + x.value[m], prior_[x.id[l]] + prior_[x.id[m]], sign * x.weight, to);
      for (Index e = 0; e < TopicExtra::size; ++e)
        to[e] -= sign * (alone_[l * TopicExtra::size + e] + alone_[m * TopicExtra::size + e]);
    };
    for (Index l = 0; l < x.size; ++l) {
      for (Index m = l + 1; m < x.size; ++m)
        if (i < 0 || l == i || m == i || l == j || m == j) add_pair(l, m);
    }
  }

  void join(const JoinItem& x, Index i, Index j) const {
    x.value[i] += x.value[j];
    std::copy(x.value + j + 1, x.value + x.size, x.value + j);
  }

  void join_ids(Index a, Index b) { prior_[a] += prior_[b]; }

 private:
  Vec prior_, alone_;
};

class DocumentJoins final : public JoinTable<CountKind> {
 public:
  DocumentJoins(const TopicAlloc& alloc, Vec prior) : JoinTable(CountKind(std::move(prior))), alloc_(alloc) {}

  bool settle(const Globals& globals, const std::vector<Index>& number, Vec& extra) const override {
    const Vec a = alloc_.document_prior(globals);
    for (Index i = 0; i < n_items(); ++i)
      for (Index l = 0; l < size(i); ++l) {
        const Index topic = number[ids(i)[l]];
        add_tangent(values(i)[l], a[topic], weight(i), extra.data() + topic * TopicExtra::size);
      }
    return true;
  }

 private:
  const TopicAlloc& alloc_;
};

}  // namespace

Summary TopicAlloc::explicit_step(const Visit& in, JoinParts& parts) const {
  Summary out = local_step(in);
  const ShareTable& memory = out.memory->shares;
  const Index n = static_cast<Index>(in.units.size()), n_chunks = count_chunks(n);
  const Vec prior = document_prior(in.globals);
  JoinParts made(static_cast<std::size_t>(2 * n_chunks));
  in.pool.run(n_chunks, [&](Index chunk) {
    DocumentReader reader(in.obs, in.data);
    auto words = std::make_unique<JoinTable<AloneKind>>();
    auto documents = std::make_unique<DocumentJoins>(*this, prior);
    std::vector<int> id;
    Vec value, r;
    double entropy = 0;
    for (Index i = n * chunk / n_chunks; i < n * (chunk + 1) / n_chunks; ++i) {
      in.pool.poll();
      const Shares share = memory.shares(i);
      if (share.empty()) continue;
      id.clear();
      value.clear();
      for (const Share& s : share) {
        id.push_back(s.cluster);
        value.push_back(s.count);
      }
      documents->append(id, value, memory.unit[i].weight);
      if (share.size() < 2) continue;
      const DocumentView view = reader.recall(in.units[i], memory, i);
      document_responsibilities(view, share, width(), r, entropy);
      const Index m = static_cast<Index>(share.size());
      for (Index u = 0; u < view.n; ++u) {
        id.clear();
        value.clear();
        for (Index j = 0; j < m; ++j)
          if (r[u * m + j] >= negligible) {
            id.push_back(share[j].cluster);
            value.push_back(r[u * m + j]);
          }
        if (id.size() > 1) words->append(id, value, view.times * view.count(u));
      }
    }
    made[2 * chunk] = std::move(words);
    made[2 * chunk + 1] = std::move(documents);
  });
  for (auto& part : made) parts.push_back(std::move(part));
  return out;
}

Globals TopicAlloc::joined(const Globals& before, const Summary& merged, Index a, Index b) const {
  if (!has_sticks()) return global_step(merged, {});
  Vec weights = mean_weights(before);
  weights[a] += weights[b];
  weights.erase(weights.begin() + b);
  Globals out = globals_at(merged, weights);
  out.omega = before.omega;
  out.omega.erase(out.omega.begin() + b);
  return out;
}

Globals TopicAlloc::merged(const Globals& globals, Index a, Index b) const {
  Summary s = globals.effective;
  s.merge(a, b);
  Vec weights = mean_weights(globals);
  weights[a] += weights[b];
  weights.erase(weights.begin() + b);
  return globals_at(std::move(s), weights);
}

}  // namespace bnpvi::topics
