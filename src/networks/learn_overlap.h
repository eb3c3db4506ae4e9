// Learns overlapping communities and their number.
#pragma once
#include <cmath>

#include "inference/learn/observer.h"
#include "networks/learn_sampled.h"
#include "networks/local_rounds.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

struct OverlapOptions : RestartOptions {
  bool births = true, merges = true, deletes = true, reorder = true;
  Index trials = 10;       // in a round, at most so many births, so many merges and so many deletes are tried
  Index disturbances = 1;  // the search ends after so many rounds of disturbances that gain nothing
  double large = 1e3;      // a network is large if it has more links and nodes than this
  /// The bound reached by another model. In a large network the search ends once it is not expected to reach
  /// this value.
  double beat = -HUGE_VAL;
  /// In a search that starts from disturbed memberships: the bound and the number of communities before the
  /// disturbance. The search ends once it has come back to both, since rounds of moves from there gained
  /// nothing before.
  double bound_before = -HUGE_VAL;
  Index k_before = 0;
  Observer* observer = &nobody;
};

/// A fit of overlapping communities that also finds their number. It alternates between laps (updates of all
/// of q), until the bound changes little, and a round of moves. The fit ends (still()) after a round that
/// gains nothing. A round has these moves:
///   - split all communities at once, so that their number can grow fast;
///   - split single communities (births);
///   - join pairs that share most nodes or links (merges);
///   - drop the smallest communities (deletes);
///   - change the order of communities on the sticks.
/// A move is tried on a copy of the state, which then makes some laps. The copy replaces the state only if
/// its bound is larger. Several moves are tried from the same state, on the threads of the pool, and the best
/// is used.
class OverlapFit final : public NetworkFit {
 public:
  OverlapFit(std::unique_ptr<Overlap> start, const OverlapOptions& options, Pool& pool);

  const Overlap& state() const { return *now_; }
  std::unique_ptr<Overlap> take_state() { return std::move(now_); }

  LapRecord lap(Index n) override;
  bool whole() const override { return stage_ != Stage::begun; }
  double objective() const override { return value_; }
  bool still() const override { return stage_ == Stage::last; }
  double units() const override;
  void keep() override { kept_ = now_->copy(), kept_value_ = value_; }
  void go_back() override { now_ = std::move(kept_), value_ = kept_value_; }
  void write(Writer& out) const override;
  void read(Reader& in) override;

 private:
  enum class Stage { begun, first, rounds, rest, last };
  // Makes the next step of the search after laps have converged, such as a round of moves. Counts the moves
  // tried in the record.
  void advance(LapRecord& record);
  bool round(LapRecord& record);  // makes a round of moves; returns false if it gained nothing
  bool moves_of_round(LapRecord& record);
  bool settles(double gain) const;
  bool is_hopeless() const;
  bool is_back() const;

  bool can_move() const { return options_.births || options_.merges || options_.deletes || options_.reorder; }
  bool is_large() const { return work(1) > options_.large; }
  double work(Index k) const;
  Index trials() const;
  Stream stream(Index trial) const;
  void run_laps(Overlap& state, Index laps);
  template <class F>
  bool best_of(Index n, F make);
  template <class F>
  Index tried(Index laps, Index n, F change);

  void from_partition(LapRecord& record);
  void from_groups(LapRecord& record);
  void disturb();
  void all_split(LapRecord& record);
  void single_splits(LapRecord& record);
  void joins(LapRecord& record);
  void deletes(LapRecord& record);
  void reorder();

  using State = std::unique_ptr<Overlap>;
  // undivided_: the first state, kept until starts from groups of its nodes were tried
  State now_, kept_, undivided_;
  const OverlapOptions options_;
  Pool& pool_;
  LocalRounds local_;
  Stage stage_ = Stage::begun;
  double value_ = 0, kept_value_ = 0;
  double undivided_value_ = 0;                            // bound of the first state, before any moves
  double last_gain_ = HUGE_VAL, gain_before_ = HUGE_VAL;  // gains of the last two rounds
  Index laps_left_, round_ = 0, k_of_plan_ = 0;
};

/// A fit of overlapping communities by stochastic learning, with a fixed number of communities.
class SampledOverlap final : public SampledFit {
 public:
  SampledOverlap(std::unique_ptr<Overlap> start, const SampledOptions& options, Pool& pool)
      : SampledFit(start->links().n(), options, pool), now_(std::move(start)) {}

  const Overlap& state() const { return *now_; }
  double objective() const override { return now_->bound(); }
  void write(Writer& out) const override;
  void read(Reader& in) override;

 private:
  Index k() const override { return now_->k(); }
  void step(const std::vector<int>& nodes, double rate) override {
    now_->capabilities().steps->step(nodes, rate);
  }
  void end_steps() override { now_->capabilities().steps->end_steps(); }
  void visit_all() override { now_->lap(); }

  std::unique_ptr<Overlap> now_;
};

}  // namespace bnpvi::networks
