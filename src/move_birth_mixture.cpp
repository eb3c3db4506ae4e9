// Birth in a mixture: the rows of one cluster in one batch are clustered afresh.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "alloc_mixture.h"
#include "move.h"
#include "restricted_fit.h"
#include "seeding.h"

namespace bnpvi {

namespace {

constexpr double worth_moving = 0.01;       // rows with less responsibility stay where they are
constexpr Index max_rows = Index{1} << 17;  // of one birth

// Rows of the batch that belong to each target, with their responsibility.
class TargetRows final : public ResponsibilitySink {
 public:
  explicit TargetRows(std::vector<Index> targets) : targets_(std::move(targets)) {}

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

  const std::vector<Index>& targets() const { return targets_; }

  MassOnRows rows_of(std::size_t i) const {
    MassOnRows all;
    for (const MassOnRows& part : found_[i]) {
      all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
      all.mass.insert(all.mass.end(), part.mass.begin(), part.mass.end());
    }
    return all;
  }

 private:
  std::vector<Index> targets_;
  std::vector<std::vector<MassOnRows>> found_;  // by target and chunk
};

class MixtureBirth final : public Move {
 public:
  MixtureBirth(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  ResponsibilitySink* watch(const State& state, Index b) override {
    const std::vector<Index> targets = choose_targets(state, b);
    ids_.clear();
    for (Index j : targets) ids_.push_back(c_.memory.id(j));
    sink_ = std::make_unique<TargetRows>(targets);
    return sink_.get();
  }

  void after_batch(State& state, Index b) override {
    for (std::size_t i = 0; i < sink_->targets().size(); ++i) {
      MassOnRows where = sink_->rows_of(i);
      const Index n = static_cast<Index>(where.rows.size());
      if (n < 2) continue;
      if (n > max_rows) where.keep_every((n - 1) / max_rows + 1);
      ++tried;
      const Index target = c_.memory.number_of(ids_[i]);
      if (propose(state, b, target, where))
        ++accepted;
      else
        c_.memory.birth_failed(target, state.total.size(target));
    }
    sink_.reset();
  }

 private:
  // Clusters whose births have not failed lately, those with the most mass in this batch first.
  std::vector<Index> choose_targets(const State& state, Index b) const {
    const Summary& s = *state.batch[b];
    std::vector<Index> out;
    for (Index j = 0; j < state.k(); ++j)
      if (s.size(j) >= 2 && c_.memory.birth_worth_trying(j, state.total.size(j))) out.push_back(j);
    std::stable_sort(out.begin(), out.end(), [&](Index x, Index y) {
      const int fx = c_.memory.birth_failures(x), fy = c_.memory.birth_failures(y);
      return fx < fy || (fx == fy && s.size(x) > s.size(y));
    });
    if (static_cast<Index>(out.size()) > c_.options.max_births) out.resize(static_cast<std::size_t>(c_.options.max_births));
    return out;
  }

  bool propose(State& state, Index b, Index target, const MassOnRows& where) {
    Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap),
                  static_cast<std::uint64_t>(b) << 32 | static_cast<std::uint64_t>(target));
    const HardClusters hard = bregman_kmeans(c_.problem.obs, c_.problem.data, where.rows, where.mass.data(),
                                             c_.options.birth_size, true, 5, stream, c_.pool);
    if (hard.k < 2) return false;
    RestrictedFit fit(c_.problem, alloc_, c_.pool, state.total, target, where);
    fit.start(hard.t, hard.k);
    fit.improve();
    if (fit.k() < 2) return false;

    State proposed = state;
    const Index old_k = state.k(), born = fit.k() - 1, p = state.total.shape.p;
    change_summaries(proposed, [born](Summary& s) { s.append(born); });
    auto batch = std::make_shared<Summary>(*proposed.batch[b]);
    for (Summary* s : {&proposed.total, batch.get()}) {
      fit.leave(s->t(target));
      for (Index i = 0; i < p; ++i) s->t(target)[i] += fit.moved(0)[i];
      for (Index j = 0; j < born; ++j) std::copy_n(fit.moved(j + 1), p, s->t(old_k + j));
      s->entropy() += fit.entropy_change();
    }
    proposed.batch[b] = std::move(batch);
    refresh(c_.problem, proposed);
    MoveMemory memory = c_.memory;
    memory.append(born);
    memory.birth_succeeded(target);
    if (c_.options.reorder) reorder(c_.problem, proposed, memory, false);
    if (proposed.elbo <= state.elbo + rounding_of(state.elbo)) return false;
    state = std::move(proposed);
    c_.memory = std::move(memory);
    return true;
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<std::uint64_t> ids_;  // of the targets: numbers change when a birth is accepted
  std::unique_ptr<TargetRows> sink_;
};

}  // namespace

std::unique_ptr<Move> make_mixture_birth(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureBirth>(context, alloc);
}

}  // namespace bnpvi
