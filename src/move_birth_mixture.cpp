// Birth in a mixture: the rows of one cluster are clustered afresh.
#include <algorithm>

#include "alloc_mixture.h"
#include "move.h"
#include "restricted_fit.h"

namespace bnpvi {

namespace {

constexpr double worth_moving = 0.01;  // rows with less responsibility stay where they are

// Rows of the batch that belong to each target, with their responsibility.
class TargetRows final : public ResponsibilitySink {
 public:
  explicit TargetRows(const std::vector<Index>& targets) : targets_(targets) {}

  void begin(Index n_chunks) override {
    found_.assign(targets_.size(), std::vector<MassOnRows>(static_cast<std::size_t>(n_chunks)));
  }

  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock&) override {
    for (std::size_t i = 0; i < targets_.size(); ++i)
      for (Index n = 0; n < r.n; ++n) {
        const double mass = r.get(n, targets_[i]);
        if (mass < worth_moving) continue;
        found_[i][chunk].rows.push_back(rows[n]);
        found_[i][chunk].mass.push_back(mass);
      }
  }

  MassOnRows rows_of(std::size_t i) const {
    MassOnRows all;
    for (const MassOnRows& part : found_[i]) {
      all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
      all.mass.insert(all.mass.end(), part.mass.begin(), part.mass.end());
    }
    return all;
  }

 private:
  const std::vector<Index>& targets_;
  std::vector<std::vector<MassOnRows>> found_;  // by target and chunk
};

class MixtureBirth final : public Move {
 public:
  MixtureBirth(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Clusters whose births have not failed lately, those that failed less and those with more mass first.
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    for (Index j = 0; j < s.k; ++j)
      if (s.size(j) >= 2 && c_.memory.birth_worth_trying(j, s.size(j))) targets_.push_back(j);
    std::stable_sort(targets_.begin(), targets_.end(), [&](Index x, Index y) {
      const int fx = c_.memory.birth_failures(x), fy = c_.memory.birth_failures(y);
      return fx < fy || (fx == fy && s.size(x) > s.size(y));
    });
    if (static_cast<Index>(targets_.size()) > c_.options.max_births)
      targets_.resize(static_cast<std::size_t>(c_.options.max_births));
    for (Index j : targets_) ids_.push_back(c_.memory.id(j));
    where_.resize(targets_.size());
    return !targets_.empty();
  }

  ResponsibilitySink* watch(const State&, Index) override {
    sink_ = std::make_unique<TargetRows>(targets_);
    return sink_.get();
  }

  void after_batch(State& state, Index b) override {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (where_[i].empty()) where_[i].resize(state.batch.size());
      where_[i][b] = sink_->rows_of(i);
    }
    sink_.reset();
  }

  void after_lap(State& state) override {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      ++tried_;
      const Index target = c_.memory.number_of(ids_[i]);
      if (propose(state, target, ids_[i], where_[i]))
        ++accepted_;
      else
        c_.memory.birth_failed(target, state.total.size(target));
    }
  }

  void report(LapRecord& record) const override {
    record.births += accepted_;
    record.births_tried += tried_;
  }

 private:
  // Tries a split into many and a split into two; the better is kept if it raises the ELBO.
  bool propose(State& state, Index target, std::uint64_t id, const std::vector<MassOnRows>& by_batch) {
    double mass = 0;
    for (const MassOnRows& where : by_batch) mass += where.total();
    if (mass < 2) return false;
    Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), id);
    RestrictedFit fit(c_.problem, alloc_, c_.pool, state.total, target, by_batch, stream);
    State best = state;
    MoveMemory best_memory = c_.memory;
    for (Index size : {c_.options.birth_size, Index{2}}) {
      fit.develop(size, stream);
      if (fit.k() < 2) continue;
      State proposed = split(state, target, by_batch, fit);
      MoveMemory memory = c_.memory;
      memory.append(fit.k() - 1);
      memory.birth_succeeded(target);
      if (c_.options.reorder) reorder(c_.problem, proposed, memory, false);
      if (proposed.elbo <= best.elbo + rounding_of(state.elbo)) continue;
      best = std::move(proposed);
      best_memory = std::move(memory);
    }
    if (best.elbo == state.elbo) return false;
    state = std::move(best);
    c_.memory = std::move(best_memory);
    return true;
  }

  // The state in which the target's mass is redistributed as `fit` says; new clusters come last.
  State split(const State& state, Index target, const std::vector<MassOnRows>& by_batch, const RestrictedFit& fit) const {
    State out = state;
    const Index old_k = state.k(), born = fit.k() - 1, p = state.total.shape.p;
    Vec share;
    if (out.assignments) out.assignments->append(born);
    for (std::size_t b = 0; b < by_batch.size(); ++b) {
      const Redistributed moved = fit.assign(by_batch[b], out.assignments ? &share : nullptr);
      if (out.assignments) out.assignments->split(target, by_batch[b].rows, by_batch[b].mass, share);
      auto s = std::make_shared<Summary>(*state.batch[b]);
      s->append(born);
      for (Index i = 0; i < p; ++i) s->t(target)[i] += moved.arrived[i] - moved.left[i];
      std::copy_n(moved.arrived.begin() + p, born * p, s->t(old_k));
      s->entropy() += moved.entropy;
      out.batch[b] = std::move(s);
    }
    out.total.k = old_k + born;
    resum(out);
    refresh(c_.problem, out);
    return out;
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<Index> targets_;
  std::vector<std::uint64_t> ids_;              // numbers change when a birth is accepted
  std::vector<std::vector<MassOnRows>> where_;  // by target and batch
  std::unique_ptr<TargetRows> sink_;
};

}  // namespace

std::unique_ptr<Move> make_mixture_birth(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureBirth>(context, alloc);
}

}  // namespace bnpvi
