// A cluster, or some near each other, fitted anew, judged when the rows around have settled: the escape from
// a wrong border and from a wrong number of clusters where they overlap.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "inference/data/shared_entropy.h"
#include "inference/moves/neighbour_groups.h"
#include "inference/moves/trial.h"
#include "inference/moves/unit_edit.h"
#include "mixtures/known_labels.h"
#include "mixtures/moves.h"
#include "mixtures/restricted_fit.h"
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

namespace {

// Guesses; with all clusters as neighbours, or with twice the rounds, medians of ten seeds differed by less
// than 1 on three sets and by 2 on a fourth.
constexpr Index sizes_of_groups[] = {1, 2, 3};  // tried one after the other
constexpr Index neighbours = 4;                 // of each member, whose rows are assigned afresh too
constexpr double least_mass = 0.01;             // of these clusters on such a row
constexpr Index max_rounds = 15;                // of local steps on these rows
constexpr double least_shared = 1e-3;  // entropy lost by joining, per observation of the smaller cluster,
                                       // from which two share rows

class MixtureRefit final : public Move {
 public:
  MixtureRefit(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Groups of one size that are worth trying.
  bool prepare(const State& state) override {
    const Vec loss = evidence_of_merging(c_.problem.obs, state.total, c_.pool);
    for (Index m : sizes_of_groups) {
      groups_ = affordable(neighbour_groups(state.k(), loss, m), state.total.sizes(), c_.options.max_births,
                           [&](const Target& group, const Vec& sizes) {
                             return one_owner(state.total, group) && may_join(state, group) &&
                                    c_.memory.refit_worth_trying(group, sizes);
                           });
      if (!groups_.empty()) break;
    }
    for (Target& group : groups_) {
      // Settled mass stays where it is, as the mass of a group that no row has stays with its first cluster.
      std::stable_partition(group.begin(), group.end(), [&](Index j) { return has_settled(state, j); });
      ids_.push_back(c_.memory.ids(group));
      regions_.push_back(region_of(group, state.k(), loss));
    }
    touched_.assign(groups_.size(), std::vector<TouchedRows>(state.batch.size()));
    return !groups_.empty();
  }

  std::unique_ptr<Watch> watch(const State&, Index) override {
    return std::make_unique<TouchedSink>(regions_, n_cells(c_.problem.obs) > 0, least_mass);
  }

  void after_batch(Index b, Watch* watch) override {
    const TouchedSink& seen = static_cast<const TouchedSink&>(*watch);
    for (std::size_t i = 0; i < groups_.size(); ++i) touched_[i][b] = seen.rows_of(i);
  }

  // Every try counts, as one that is accepted may do no more than the laps to come would have done.
  void after_lap(State& state) override {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (touched_[i].empty()) continue;
      const Target group = c_.memory.numbers_of(ids_[i]);
      c_.memory.refit_tried(group, sizes_of(group, state.total.sizes()));
      const Target around = sharing(state, group, touched_[i]);
      if (overlaps(state, group, touched_[i], around)) {
        ++tried_;
        Target moving = group;
        moving.insert(moving.end(), around.begin(), around.end());
        for (TouchedRows& batch : touched_[i]) batch = batch.with_mass(moving, least_mass);
        if (propose(state, group, i)) ++accepted_;
      }
      touched_[i].clear();
    }
  }

 private:
  // The group and the clusters nearest to each of its members.
  static Target region_of(const Target& group, Index k, const Vec& loss) {
    std::set<Index> out(group.begin(), group.end());
    for (Index a : group)
      for (Index b : nearest(a, k, loss, neighbours)) out.insert(b);
    return Target(out.begin(), out.end());
  }

  // True when every cluster of the group shares rows with the others, or a single one with some other.
  static bool overlaps(const State& state, const Target& group, const std::vector<TouchedRows>& touched,
                       const Target& around) {
    if (group.size() == 1) return !around.empty();
    Vec shared(group.size());
    for (const TouchedRows& batch : touched)
      for (Index n = 0; n < static_cast<Index>(batch.rows.size()); ++n) {
        const double all = batch.mass(n, group);
        for (std::size_t l = 0; l < group.size(); ++l) {
          const double x = batch.get(n, group[l]);
          shared[l] += batch.weight[n] * shared_entropy(x, std::max(all - x, 0.0));
        }
      }
    const Vec sizes = sizes_of(group, state.total.sizes());
    return *std::min_element(shared.begin(), shared.end()) >=
           least_shared * *std::min_element(sizes.begin(), sizes.end());
  }

  // The clusters outside the group that share rows with it.
  static Target sharing(const State& state, const Target& group, const std::vector<TouchedRows>& touched) {
    Vec shared(static_cast<std::size_t>(state.k()));
    for (const TouchedRows& batch : touched)
      for (Index n = 0; n < static_cast<Index>(batch.rows.size()); ++n) {
        const double mass = batch.mass(n, group);
        for (Index e = batch.offset[n]; mass > 0 && e < batch.offset[n + 1]; ++e)
          shared[batch.cluster[e]] += batch.weight[n] * shared_entropy(mass, batch.value[e]);
      }
    for (Index j : group) shared[j] = 0;
    double size = 0;
    for (Index j : group) size += state.total.size(j);
    Target out;
    for (Index j = 0; j < state.k(); ++j)
      if (shared[j] > 0 && shared[j] >= least_shared * std::min(size, state.total.size(j))) out.push_back(j);
    return out;
  }

  // The group's mass is split among one cluster more, then among as many as now; then the rows of the region
  // go wherever they like.
  bool propose(State& state, const Target& group, std::size_t i) {
    const std::vector<TouchedRows>& touched = touched_[i];
    std::vector<MassOnRows> where;
    std::vector<EditedPart> parts;  // of the first try, for both
    double mass = 0;
    for (const TouchedRows& rows : touched) {
      where.push_back(mass_on(rows, group));
      mass += where.back().total();
    }
    if (mass < 2) return false;
    Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), ids_[i][0]);
    RestrictedFit fit(c_.problem, alloc_, c_.pool, state, group, where, stream);
    const Index m = static_cast<Index>(group.size());
    const int owner = state.total.owner_of(group.front());
    for (Index born : {1, 0}) {
      if (m + born < 2) break;
      Stream own = stream;
      fit.reseed(m + born, own);
      if (fit.k() < m + born) continue;
      if (parts.empty()) parts = parts_without(c_.problem, c_.pool, state, touched);
      Summary start = started(state, group, fit, where, born);
      if (born == 0 && !has_settled(state, group.front())) match_sizes(start, state.total, group);
      const std::vector<Index> order = by_size(start);
      start.permute(order);
      UnitEdit edit(c_, state, Changes().append(born, owner).permute(order), parts);
      edit.begin_at(alloc_.global_step(start, {}));
      edit.require_occupied(occupied(state.total) + born);
      const double before = state.elbo;
      const bool climbed = edit.climb(state, max_rounds);
      tell({name_of(born), ids_[i], 0, (climbed ? state.elbo : edit.proposed().elbo) - before, climbed});
      if (!climbed) continue;
      renumber_after(i, order);
      return true;
    }
    return false;
  }

  static const char* name_of(Index born) { return born > 0 ? "refit with one more" : "refit"; }

  // The whole data with the group's mass where the restricted fit has it; a born cluster comes last.
  Summary started(const State& state, const Target& group, const RestrictedFit& fit,
                  const std::vector<MassOnRows>& where, Index born) const {
    Summary out = state.total;
    out.append(born, out.owner_of(group.front()));
    Target placed = group;  // where the clusters of the restricted fit go; the first of them has its base
    if (born > 0) placed.push_back(state.k());
    for (std::size_t l = 1; l < group.size(); ++l) move_statistic(out, placed[l], placed[0]);
    for (const Redistributed& found : fit.assign(where))
      for (Index f = 0; f < out.shape.p; ++f) {
        out.edit_t(placed[0])[f] -= found.left[f];
        for (std::size_t l = 0; l < placed.size(); ++l)
          out.edit_t(placed[l])[f] += found.arrived[static_cast<Index>(l) * out.shape.p + f];
      }
    return out;
  }

  static MassOnRows mass_on(const TouchedRows& touched, const Target& group) {
    MassOnRows out;
    out.all = false;
    out.expected = touched.expected;
    for (Index j : group)
      if (out.expected) out.cluster.push_back(touched.at_visit[j]);
    for (std::size_t n = 0; n < touched.rows.size(); ++n) {
      const double mass = touched.mass(static_cast<Index>(n), group);
      if (mass < least_mass) continue;
      out.rows.push_back(touched.rows[n]);
      out.mass.push_back(touched.weight[n] * mass);
      for (Index j : group)
        if (out.expected) out.by_cluster.push_back(touched.weight[n] * touched.get(static_cast<Index>(n), j));
    }
    return out;
  }

  static void move_statistic(Summary& s, Index from, Index to) {
    for (Index f = 0; f < s.shape.p; ++f) {
      s.edit_t(to)[f] += s.t(from)[f];
      s.edit_t(from)[f] = 0;
    }
  }

  // The largest cluster of the group takes the place of what was the largest, and so on: which is which is by
  // chance, and what is remembered of a cluster holds for its size.
  static void match_sizes(Summary& start, const Summary& before, const Target& group) {
    const auto by_size_in = [&](const Summary& s) {
      Target out = group;
      std::stable_sort(out.begin(), out.end(), [&](Index a, Index b) { return s.size(a) > s.size(b); });
      return out;
    };
    const Target now = by_size_in(start), then = by_size_in(before);
    std::vector<Index> order(static_cast<std::size_t>(start.k));
    std::iota(order.begin(), order.end(), Index{0});
    for (std::size_t i = 0; i < group.size(); ++i) order[then[i]] = now[i];
    start.permute(order);
  }

  static std::vector<Index> by_size(const Summary& s) {
    std::vector<Index> order(static_cast<std::size_t>(s.k));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return s.size(a) > s.size(b); });
    return order;
  }

  // Of the groups after an accepted one, those with a row of it wait for another lap.
  void renumber_after(std::size_t done, const std::vector<Index>& order) {
    std::vector<Index> number(order.size());
    for (std::size_t j = 0; j < order.size(); ++j) number[order[j]] = static_cast<Index>(j);
    for (std::size_t i = done + 1; i < touched_.size(); ++i)
      if (share_rows(touched_[done], touched_[i]))
        touched_[i].clear();
      else
        for (TouchedRows& rows : touched_[i]) rows.renumber(number);
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<Target> groups_, regions_;           // as the lap began
  std::vector<std::vector<std::uint64_t>> ids_;    // of the groups
  std::vector<std::vector<TouchedRows>> touched_;  // by group and batch: rows of its region
};

}  // namespace

std::unique_ptr<Move> make_mixture_refit(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureRefit>(context, alloc);
}

}  // namespace bnpvi::mixtures
