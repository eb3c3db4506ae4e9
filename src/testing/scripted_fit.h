// For tests of the code that runs fits: a fit whose laps (passes over all data) follow a script.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "foundation/pool.h"
#include "inference/learn/fit.h"

namespace bnpvi::testing {

/// What a script says about one lap (a pass over all data): its result, and the objective after it.
struct ScriptedLap {
  enum Kind {
    moves = 0,
    still = 1,
    breaks = 2,
    stopped = 3,
    partial = 4
  };  // partial: the state does not cover all data
  Kind kind;
  double value;
};

/// A fit whose laps follow a script. It has one unit of data, and its state is the number of the last lap;
/// go_back() restores the state that keep() saved.
class ScriptedFit final : public Fit {
 public:
  /// phases: for each phase the results of its laps; when they are used up, the last one is repeated. value:
  /// objective before the first lap. whole: whether the fit may end with the state before the first lap.
  /// work: cost of each lap. k: number of clusters that is reported.
  ScriptedFit(std::vector<std::vector<ScriptedLap>> phases, double value, bool whole, double slack,
              double work, Index k, Pool& pool)
      : phases_(std::move(phases)),
        now_{value, 0, 0, 0},
        whole_(whole),
        slack_(slack),
        work_(work),
        k_(k),
        pool_(pool) {}

  LapRecord lap(Index n) override {
    const std::vector<ScriptedLap>& laps = phases_.at(static_cast<std::size_t>(now_.phase));
    const ScriptedLap& lap = laps.at(std::min(static_cast<std::size_t>(now_.at++), laps.size() - 1));
    now_.lap = n;
    now_.value = lap.value;
    pool_.spend(work_);
    if (lap.kind == ScriptedLap::breaks) throw std::domain_error("as the script says");
    if (lap.kind == ScriptedLap::stopped) throw Interrupted();
    whole_ = lap.kind != ScriptedLap::partial;
    still_ = lap.kind == ScriptedLap::still;
    LapRecord record;
    record.lap = n;
    record.elbo = now_.value;
    record.k = k_;
    return record;
  }
  bool whole() const override { return whole_; }
  double objective() const override { return now_.value; }
  bool still() const override { return still_; }
  double units() const override { return 1; }
  double slack() const override { return slack_; }
  bool next_phase(Why) override {
    if (now_.phase + 1 >= static_cast<Index>(phases_.size())) return false;
    ++now_.phase;
    now_.at = 0;
    now_.value = -1e6;  // a value on the scale of another objective
    return true;
  }
  void keep() override { kept_ = now_; }
  void go_back() override { now_ = kept_; }
  void write(Writer& out) const override { out.list(&now_, 1); }
  void read(Reader& in) { now_ = in.list<std::vector<State>>().at(0), whole_ = true; }
  Index lap_of_state() const { return now_.lap; }

 private:
  struct State {
    double value;
    Index lap, phase, at;
  };
  const std::vector<std::vector<ScriptedLap>> phases_;
  State now_, kept_ = now_;
  bool whole_, still_ = false;
  const double slack_, work_;
  const Index k_;
  Pool& pool_;
};

}  // namespace bnpvi::testing
