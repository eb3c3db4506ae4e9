// Birth in a mixture: the rows of one cluster are clustered afresh.
#include <algorithm>

#include "split_mixture.h"

namespace bnpvi {

namespace {

class MixtureBirth final : public Move {
 public:
  MixtureBirth(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Clusters whose births have not failed lately, those that failed less and those with more mass first.
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    std::vector<Index> order;
    for (Index j = 0; j < s.k; ++j)
      if (s.size(j) >= 2 && c_.memory.birth_worth_trying(j, s.size(j))) order.push_back(j);
    std::stable_sort(order.begin(), order.end(), [&](Index x, Index y) {
      const int fx = c_.memory.birth_failures(x), fy = c_.memory.birth_failures(y);
      return fx < fy || (fx == fy && s.size(x) > s.size(y));
    });
    if (static_cast<Index>(order.size()) > c_.options.max_births)
      order.resize(static_cast<std::size_t>(c_.options.max_births));
    for (Index j : order) {
      targets_.push_back({j, -1});
      ids_.push_back(c_.memory.id(j));
    }
    where_.resize(targets_.size(), std::vector<MassOnRows>(state.batch.size()));
    return !targets_.empty();
  }

  ResponsibilitySink* watch(const State&, Index) override {
    sink_ = std::make_unique<TargetRows>(targets_);
    return sink_.get();
  }

  void after_batch(State&, Index b) override {
    for (std::size_t i = 0; i < targets_.size(); ++i) where_[i][b] = sink_->rows_of(i);
  }

  void after_lap(State& state) override {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      ++tried_;
      const Index target = c_.memory.number_of(ids_[i]);
      Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), ids_[i]);
      auto proposal = split_cluster(c_, alloc_, state, c_.memory, target, where_[i], stream);
      if (!proposal || proposal->state.elbo <= state.elbo + rounding_of(state.elbo)) {
        c_.memory.birth_failed(target, state.total.size(target));
        continue;
      }
      ++accepted_;
      state = std::move(proposal->state);
      c_.memory = std::move(proposal->memory);
    }
  }

  void report(LapRecord& record) const override {
    record.births += accepted_;
    record.births_tried += tried_;
  }

 private:
  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<BirthTarget> targets_;
  std::vector<std::uint64_t> ids_;              // numbers change when a birth is accepted
  std::vector<std::vector<MassOnRows>> where_;  // by target and batch
  std::unique_ptr<TargetRows> sink_;
};

}  // namespace

std::unique_ptr<Move> make_mixture_birth(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureBirth>(context, alloc);
}

}  // namespace bnpvi
