// Birth in a mixture: the rows of one cluster are clustered anew.
#include <algorithm>
#include <cmath>

#include "inference/learn/visit_batches.h"
#include "inference/moves/trial.h"
#include "mixtures/moves.h"
#include "mixtures/split_cluster.h"

namespace bnpvi::mixtures {

namespace {

// As many splits are found at the same time, from the same state: a constant, so that results do not depend
// on the number of threads; all of a lap, by default.
constexpr Index splits_at_once = 64;

class MixtureBirth final : public Move {
 public:
  MixtureBirth(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  bool prepare(const State& state) override {
    ids_ = birth_targets(c_, state);
    for (std::uint64_t id : ids_) targets_.push_back({c_.memory.number_of(id)});
    where_.resize(targets_.size(), std::vector<MassOnRows>(state.batch.size()));
    return !targets_.empty();
  }

  std::unique_ptr<Watch> watch(const State&, Index) override {
    return std::make_unique<TargetRows>(targets_, n_cells(c_.problem.obs) > 0);
  }

  void after_batch(Index b, Watch* watch) override {
    const TargetRows& seen = static_cast<const TargetRows&>(*watch);
    for (std::size_t i = 0; i < targets_.size(); ++i) where_[i][b] = seen.rows_of(i);
  }

  void after_lap(State& state) override {
    if (c_.options.adopt)
      adopt(state);
    else
      judge_one_by_one(state);
  }

 private:
  Stream stream_of(Index i) const {
    return {c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), ids_[i]};
  }

  // The splits of targets first .. last − 1, each found from this state.
  std::vector<Split> find_splits(const State& state, Index first, Index last) const {
    std::vector<Split> out(static_cast<std::size_t>(last - first));
    const auto one = [&](Index i) {
      const Index target = c_.memory.number_of(ids_[first + i]);
      out[i] = find_split(c_, alloc_, state, c_.memory, target, where_[first + i], stream_of(first + i));
    };
    if (c_.problem.workers)
      for (Index i = 0; i < last - first; ++i) one(i);
    else
      c_.pool.run(last - first, one);
    return out;
  }

  // Calls use(i, split) for each target in turn.
  template <class Use>
  void split_each(const State& state, Use use) {
    const Index n = static_cast<Index>(targets_.size());
    for (Index first = 0; first < n; first += splits_at_once) {
      const std::vector<Split> splits = find_splits(state, first, std::min(n, first + splits_at_once));
      for (std::size_t i = 0; i < splits.size(); ++i) {
        ++tried_;
        use(first + static_cast<Index>(i), splits[i]);
      }
    }
  }

  std::optional<Proposal> put_into(const State& state, const MoveMemory& memory, Index i,
                                   const Split& split) const {
    return proposed(c_, alloc_, state, memory, memory.number_of(ids_[i]), where_[i], split, stream_of(i));
  }

  void judge_one_by_one(State& state) {
    split_each(state, [&](Index i, const Split& split) {
      auto proposal = put_into(state, c_.memory, i, split);
      const Index target = c_.memory.number_of(ids_[i]);
      const bool lifted = proposal && lifts(c_.problem, proposal->state, c_.to_beat(state), c_.pool);
      tell({"birth",
            {ids_[i]},
            c_.memory.birth_failures(target),
            proposal ? proposal->state.elbo - state.elbo : NAN,
            lifted});
      if (!lifted) {
        c_.memory.birth_failed(target, state.total.size(target), !proposal);
        return;
      }
      ++accepted_;
      state = std::move(proposal->state);
      c_.memory = std::move(proposal->memory);
    });
  }

  // Collect, create, adopt [Hughes & Sudderth 2013, §4], but with an exact comparison: the newborns of all
  // targets are added, every row may move to them in one more lap, and then the ELBO is compared for all
  // births together.
  void adopt(State& state) {
    Proposal all{state, c_.memory};
    Index splits = 0;
    split_each(state, [&](Index i, const Split& split) {
      if (auto proposal = put_into(all.state, all.memory, i, split)) {
        all = std::move(*proposal);
        ++splits;
      }
    });
    if (splits > 0)
      for (const std::vector<Index>& wave : in_waves(all_batches(c_.problem.source), c_.problem.wave)) {
        visit_batches(c_.problem, all.state, wave, c_.visitor, c_.pool);
        refresh(c_.problem, all.state);
      }
    if (splits > 0 && lifts(c_.problem, all.state, c_.to_beat(state), c_.pool)) {
      accepted_ += splits;
      state = std::move(all.state);
      c_.memory = std::move(all.memory);
      return;
    }
    for (std::uint64_t id : ids_) {
      const Index target = c_.memory.number_of(id);
      c_.memory.birth_failed(target, state.total.size(target));
    }
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<Target> targets_;
  std::vector<std::uint64_t> ids_;              // identities; numbers change when a birth is accepted
  std::vector<std::vector<MassOnRows>> where_;  // by target and batch
};

}  // namespace

std::unique_ptr<Move> make_mixture_birth(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureBirth>(context, alloc);
}

}  // namespace bnpvi::mixtures
