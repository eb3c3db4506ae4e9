// Neighbouring clusters that share rows are joined and split anew: the escape from a wrong border between
// two, and from a wrong number of clusters among several.
#include <algorithm>
#include <numeric>
#include <set>

#include "mixtures/moves.h"
#include "mixtures/split_cluster.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index sizes_of_groups[] = {2, 3, 5};  // tried one after the other
constexpr Index nearest_pairs = 2;  // each cluster is tried with so many of those nearest to it; a guess
constexpr double most_mass = 2;     // of the groups of a lap, as a multiple of that of the data; a guess
constexpr double least_shared =
    1e-3;  // entropy lost by joining, per observation of the smallest cluster, that is worth a try; a guess

class MixtureResplit final : public Move {
 public:
  MixtureResplit(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Groups of one size that are worth trying, nearest first.
  bool prepare(const State& state) override {
    const Vec loss = evidence_of_merging(c_.problem.obs, state.total, c_.pool);
    for (Index m : sizes_of_groups) {
      if (m > state.k() || (m > 2 && alloc_.fixed_k() > 0)) break;
      choose(state.total, near_groups(state.total, loss, m));
      if (!groups_.empty()) break;
    }
    for (Group& group : groups_) {
      group.where.resize(state.batch.size());
      group.entropy.resize(state.batch.size());
    }
    return !groups_.empty();
  }

  ResponsibilitySink* watch(const State&, Index) override {
    sink_ = std::make_unique<TargetRows>(targets_);
    return sink_.get();
  }

  void after_batch(State&, Index b) override {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      groups_[i].where[b] = sink_->rows_of(i);
      groups_[i].entropy[b] = sink_->entropy_of_joining(i);
    }
  }

  void after_lap(State& state) override {
    std::set<std::uint64_t> changed;
    for (const Group& group : groups_) {
      if (std::any_of(group.ids.begin(), group.ids.end(), [&](auto id) { return changed.count(id) > 0; }))
        continue;
      Target numbers;
      Vec sizes;
      for (std::uint64_t id : group.ids) {
        numbers.push_back(c_.memory.number_of(id));
        sizes.push_back(state.total.size(numbers.back()));
      }
      const double least = *std::min_element(sizes.begin(), sizes.end());
      const bool barely_shared = shared(group) < least_shared * least;
      if (!barely_shared && propose(state, group, numbers))
        changed.insert(group.ids.begin(), group.ids.end());
      else
        c_.memory.resplit_failed(numbers, sizes, barely_shared);
    }
  }

 private:
  struct Group {
    std::vector<std::uint64_t> ids;  // numbers change when a move is accepted
    std::vector<MassOnRows> where;   // by batch
    Vec entropy;                     // change when joined, by batch
  };

  // Each cluster with the m − 1 nearest to it, of pairs with the next ones too; nearest groups first.
  std::vector<Target> near_groups(const Summary& s, const Vec& loss, Index m) const {
    std::vector<std::pair<double, Target>> groups;
    for (Index a = 0; a < s.k; ++a) {
      std::vector<Index> others;
      for (Index b = 0; b < s.k; ++b)
        if (b != a && loss[a * s.k + b] > -INFINITY) others.push_back(b);
      const Index near = std::min<Index>(m == 2 ? nearest_pairs : m - 1, static_cast<Index>(others.size()));
      std::partial_sort(others.begin(), others.begin() + near, others.end(),
                        [&](Index x, Index y) { return loss[a * s.k + x] > loss[a * s.k + y]; });
      if (near < m - 1) continue;
      for (Index first = 0; first + m - 1 <= near; ++first) {
        Target group(others.begin() + first, others.begin() + first + m - 1);
        double all = 0;
        for (Index b : group) all += loss[a * s.k + b];
        group.push_back(a);
        std::sort(group.begin(), group.end());
        groups.emplace_back(-all, std::move(group));
      }
    }
    std::sort(groups.begin(), groups.end());
    std::vector<Target> out;
    std::set<Target> seen;
    for (auto& group : groups)
      if (seen.insert(group.second).second) out.push_back(std::move(group.second));
    return out;
  }

  void choose(const Summary& s, const std::vector<Target>& candidates) {
    const Vec all = s.sizes();
    double left = most_mass * std::accumulate(all.begin(), all.end(), 0.0);
    for (const Target& candidate : candidates) {
      Vec sizes;
      for (Index j : candidate) sizes.push_back(all[j]);
      if (!c_.memory.resplit_worth_trying(candidate, sizes)) continue;
      left -= std::accumulate(sizes.begin(), sizes.end(), 0.0);
      if (left < 0 && !groups_.empty()) break;
      if (static_cast<Index>(groups_.size()) == c_.options.max_births) break;
      Group group;
      for (Index j : candidate) group.ids.push_back(c_.memory.id(j));
      groups_.push_back(std::move(group));
      targets_.push_back(candidate);
    }
  }

  // Entropy that is lost when the group is joined: 0 when no row is shared.
  static double shared(const Group& group) {
    return -std::accumulate(group.entropy.begin(), group.entropy.end(), 0.0);
  }

  bool propose(State& state, const Group& group, const Target& numbers) {
    ++tried_;
    Stream stream(c_.problem.seed, Purpose::merge_target, static_cast<std::uint64_t>(c_.lap), group.ids[0]);
    const bool risen =
        join_and_split(c_, alloc_, state, numbers, group.entropy, group.ids[0], group.where, stream);
    if (risen) ++accepted_;
    return risen;
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<Group> groups_;
  std::vector<Target> targets_;  // the groups' clusters as the lap began
  std::unique_ptr<TargetRows> sink_;
};

}  // namespace

std::unique_ptr<Move> make_mixture_resplit(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureResplit>(context, alloc);
}

}  // namespace bnpvi::mixtures
