// Merge: all statistics of a pair add; only its entropy must be tracked.
#include <algorithm>
#include <cmath>

#include "chunks.h"
#include "move.h"

namespace bnpvi {

namespace {

struct Pair {
  Index a, b;    // a < b
  double score;  // gain without the loss of entropy: an upper bound of the true gain
};

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

// −Σ (r_a + r_b) log(r_a + r_b) + Σ r_a log r_a + Σ r_b log r_b ≤ 0 for tracked pairs, by chunk.
class PairEntropy final : public ResponsibilitySink {
 public:
  explicit PairEntropy(const std::vector<Pair>& pairs) : pairs_(pairs) {}

  void begin(Index n_chunks) override {
    change_.assign(static_cast<std::size_t>(n_chunks), Vec(pairs_.size(), 0.0));
  }

  void visit(Index chunk, const Index*, const Responsibilities& r, FeatureBlock&) override {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      double sum = 0;
      for (Index n = 0; n < r.n; ++n) {
        const double a = r.get(n, pairs_[i].a);
        if (a == 0) continue;
        const double b = r.get(n, pairs_[i].b);
        if (b > 0) sum += x_log_x(a) + x_log_x(b) - x_log_x(a + b);
      }
      change_[chunk][i] += sum;
    }
  }

  Vec total() const {
    Vec out(pairs_.size(), 0.0);
    for (const Vec& c : change_)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += c[i];
    return out;
  }

 private:
  const std::vector<Pair>& pairs_;
  std::vector<Vec> change_;
};

// The summary without the observation statistics: all that the allocation model reads.
Summary counts_only(const Summary& s) {
  Summary out = s;
  out.shape.p = 1;
  out.obs = s.sizes();
  return out;
}

// Value of everything but the data term, at optimal globals.
double allocation_value(const AllocModel& alloc, const Summary& counts) {
  return sum_terms(alloc.elbo_terms(counts, alloc.global_step(counts, {})));
}

double merged_evidence(const ObsModel& obs, const Summary& s, Index a, Index b) {
  Vec t(s.t(a), s.t(a) + s.shape.p);
  for (Index i = 0; i < s.shape.p; ++i) t[i] += s.t(b)[i];
  return obs.log_evidence(t.data());
}

class Merge final : public Move {
 public:
  explicit Merge(const MoveContext& context) : c_(context) {}

  // Pairs whose bound on the gain is positive, best first.
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    const ObsModel& obs = c_.problem.obs;
    const Summary counts = counts_only(s);
    const double before = allocation_value(c_.problem.alloc, counts);
    Vec evidence(static_cast<std::size_t>(s.k));
    for (Index j = 0; j < s.k; ++j) evidence[j] = obs.log_evidence(s.t(j));
    for (Index a = 0; a < s.k; ++a) {
      c_.pool.poll();
      for (Index b = a + 1; b < s.k; ++b) {
        if (!c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b))) continue;
        double score = merged_evidence(obs, s, a, b) - evidence[a] - evidence[b];
        Summary merged = counts;
        merged.merge(a, b);
        score += allocation_value(c_.problem.alloc, merged) - before;
        if (score > 0) pairs_.push_back({a, b, score});
      }
    }
    std::stable_sort(pairs_.begin(), pairs_.end(), [](const Pair& x, const Pair& y) { return x.score > y.score; });
    if (static_cast<Index>(pairs_.size()) > c_.options.max_merges)
      pairs_.resize(static_cast<std::size_t>(c_.options.max_merges));
    entropy_.resize(state.batch.size());
    return !pairs_.empty();
  }

  ResponsibilitySink* watch(const State&, Index) override {
    sink_ = std::make_unique<PairEntropy>(pairs_);
    return sink_.get();
  }

  void after_batch(State&, Index b) override { entropy_[b] = sink_->total(); }

  void after_lap(State& state) override {
    std::vector<Index> number(static_cast<std::size_t>(state.k()));  // current number of an original cluster
    for (Index j = 0; j < state.k(); ++j) number[j] = j;
    std::vector<bool> used(number.size(), false);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Pair& pair = pairs_[i];
      if (used[pair.a] || used[pair.b]) continue;
      ++tried_;
      const Index a = number[pair.a], b = number[pair.b];
      State proposed = state;
      proposed.total.merge(a, b);
      if (proposed.assignments) proposed.assignments->merge(a, b);
      for (std::size_t batch = 0; batch < proposed.batch.size(); ++batch) {
        auto s = std::make_shared<Summary>(*proposed.batch[batch]);
        s->merge(a, b);
        s->entropy() += entropy_[batch][i];
        proposed.total.entropy() += entropy_[batch][i];
        proposed.batch[batch] = std::move(s);
      }
      proposed.globals = {};
      refresh(c_.problem, proposed);
      if (proposed.elbo <= state.elbo + rounding_of(state.elbo)) {
        c_.memory.merge_failed(a, b, state.total.size(a), state.total.size(b));
        continue;
      }
      ++accepted_;
      state = std::move(proposed);
      c_.memory.drop(b);
      used[pair.a] = used[pair.b] = true;
      for (Index& x : number)
        if (x > b) --x;
    }
  }

  void report(LapRecord& record) const override {
    record.merges += accepted_;
    record.merges_tried += tried_;
  }

 private:
  MoveContext c_;
  std::vector<Pair> pairs_;
  std::vector<Vec> entropy_;  // change of entropy by batch and pair
  std::unique_ptr<PairEntropy> sink_;
};

}  // namespace

std::unique_ptr<Move> make_merge(const MoveContext& context) { return std::make_unique<Merge>(context); }

}  // namespace bnpvi
