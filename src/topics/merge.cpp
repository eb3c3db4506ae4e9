// Merge in a topic model: documents that use one of a pair are relabelled, those that use both visited again.
#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"
#include "topics/moves.h"
#include "topics/topic_edit.h"

namespace bnpvi::topics {

namespace {

constexpr Index max_rounds = 3;  // of an edit (a guess)

struct Pair {
  std::uint64_t a, b;
  double score;
};

// Documents that use both topics.
std::vector<DocumentRef> users_of_both(const State& state, Index a, Index b) {
  std::vector<DocumentRef> out;
  for (const DocumentRef& ref : users_of(state, a)) {
    const Shares share = shares_of(state, ref);
    if (std::any_of(share.begin(), share.end(), [b](const Share& s) { return s.cluster == b; }))
      out.push_back(ref);
  }
  return out;
}

class TopicMerge final : public Move {
 public:
  TopicMerge(const MoveContext& context, const TopicAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Pairs whose statistics lose least by being one.
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    const ObsModel& obs = c_.problem.obs;
    Vec evidence, t(static_cast<std::size_t>(s.shape.p));
    for (Index j = 0; j < s.k; ++j) evidence.push_back(obs.log_evidence(s.t(j)));
    for (const auto& candidate : closest_pairs(s)) {
      c_.pool.poll();
      const Index a = candidate.first, b = candidate.second;
      for (Index i = 0; i < s.shape.p; ++i) t[i] = s.t(a)[i] + s.t(b)[i];
      pairs_.push_back(
          {c_.memory.id(a), c_.memory.id(b), obs.log_evidence(t.data()) - evidence[a] - evidence[b]});
    }
    std::stable_sort(pairs_.begin(), pairs_.end(),
                     [](const Pair& x, const Pair& y) { return x.score > y.score; });
    if (static_cast<Index>(pairs_.size()) > c_.options.max_merges)
      pairs_.resize(static_cast<std::size_t>(c_.options.max_merges));
    return !pairs_.empty();
  }

  void after_lap(State& state) override {
    for (const Pair& pair : pairs_) {
      Index a = c_.memory.number_of(pair.a), b = c_.memory.number_of(pair.b);
      if (a < 0 || b < 0) continue;
      if (a > b) std::swap(a, b);
      ++tried_;
      if (propose(state, a, b))
        ++accepted_;
      else
        c_.memory.merge_failed(a, b, state.total.size(a), state.total.size(b));
    }
  }

 private:
  // Pairs worth trying with the smallest symmetric divergence ⟨s_a − s_b, w_a − w_b⟩ between their smoothed
  // means, weighted by the smaller topic: what the merge loses, roughly. At most four times as many as are
  // tried.
  std::vector<std::pair<Index, Index>> closest_pairs(const Summary& s) const {
    const Index p = s.shape.p, k = s.k;
    Vec mean(static_cast<std::size_t>(k * p)), w(mean.size()), cross(static_cast<std::size_t>(k * k));
    for (Index j = 0; j < k; ++j)
      c_.problem.obs.point_estimate(s.t(j), mean.data() + j * p, w.data() + j * p);
    kernels().product_nt(k, k, p, mean.data(), p, w.data(), p, cross.data(), k);
    struct Candidate {
      double loss;
      Index a, b;
    };
    std::vector<Candidate> all;
    for (Index a = 0; a < k; ++a)
      for (Index b = a + 1; b < k; ++b)
        if (c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b)))
          all.push_back({std::min(s.size(a), s.size(b)) *
                             (cross[a * k + a] + cross[b * k + b] - cross[a * k + b] - cross[b * k + a]),
                         a, b});
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& x, const Candidate& y) { return x.loss < y.loss; });
    if (static_cast<Index>(all.size()) > 4 * c_.options.max_merges)
      all.resize(static_cast<std::size_t>(4 * c_.options.max_merges));
    std::vector<std::pair<Index, Index>> out;
    for (const Candidate& x : all) out.push_back({x.a, x.b});
    return out;
  }

  // The ELBO when no document is visited again: exact but for the entropy of documents that use both.
  double predict(const State& state, Index a, Index b) const {
    const ObsModel& obs = c_.problem.obs;
    const Summary& s = state.total;
    Vec t(s.t(a), s.t(a) + s.shape.p);
    for (Index i = 0; i < s.shape.p; ++i) t[i] += s.t(b)[i];
    Summary merged = allocation_part(s);
    merged.merge(a, b);
    return state.elbo + obs.log_evidence(t.data()) - obs.log_evidence(s.t(a)) - obs.log_evidence(s.t(b)) +
           sum_terms(alloc_.elbo_terms(merged, alloc_.global_step(merged, {}))) -
           sum_terms(alloc_.elbo_terms(s, state.globals));
  }

  bool propose(State& state, Index a, Index b) {
    const std::vector<DocumentRef> users = users_of_both(state, a, b);
    const double predicted = predict(state, a, b);
    const bool known = users.empty(), loses = known && predicted <= state.elbo;
    if (loses && !c_.problem.observer.wants_spared_work()) return false;
    TopicEdit edit(c_, alloc_, state, users, Changes().merge(a, b), max_rounds);
    for (Index i = 0; i < edit.n(); ++i) {
      double joined = 0;
      for (const Share& s : shares_of(state, edit.document(i)))
        if (s.cluster == b) joined = s.count;
      for (Share s : shares_of(state, edit.document(i))) {
        if (s.cluster == b) continue;
        if (s.cluster == a) s.count += joined;
        if (s.cluster > b) --s.cluster;
        edit.start[i].push_back(s);
      }
    }
    Summary first = state.total;
    first.merge(a, b);
    Vec weights = alloc_.mean_weights(state.globals);
    weights[a] += weights[b];
    weights.erase(weights.begin() + b);
    edit.begin_at_topics(std::move(first), weights);
    if (known && c_.problem.observer.wants_spared_work()) {
      edit.round();
      c_.problem.observer.foreseen(predicted, edit.proposed());
    }
    return !loses && edit.climb(state, max_rounds, predicted);
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::unique_ptr<Move> make_topic_merge(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicMerge>(context, alloc);
}

}  // namespace bnpvi::topics
