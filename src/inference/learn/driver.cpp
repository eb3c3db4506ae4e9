#include "inference/learn/driver.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "foundation/random.h"
#include "inference/learn/check_progress.h"

namespace bnpvi {

LapRecord Course::end() const {
  LapRecord record;
  record.lap = laps();
  record.elbo = objective;
  record.k = trace.empty() ? 0 : trace.back().k;
  return record;
}

void Course::write(Writer& out) const {
  out.list(trace);
  out.integer(before_phase);
  out.flag(cut);
  out.flag(converged);
  out.text(reason);
  out.list(&taken_back, 1);
  out.number(objective);
}

Course Course::read(Reader& in) {
  Course out;
  out.trace = in.list<std::vector<LapRecord>>();
  out.before_phase = in.integer();
  out.cut = in.flag();
  out.converged = in.flag();
  out.reason = in.text();
  out.taken_back = in.list<std::vector<LapRecord>>().at(0);
  out.objective = in.number();
  require_stored(0 <= out.before_phase && out.before_phase <= out.laps(), "numbers of laps");
  return out;
}

namespace {

class Driver {
 public:
  Driver(Fit& fit, Course& course, const DriverOptions& options, Pool& pool,
         const std::function<void(const LapRecord&)>& after_lap)
      : fit_(fit), course_(course), options_(options), pool_(pool), after_lap_(after_lap) {
    if (!course_.trace.empty()) before_ = course_.trace.back().seconds;
  }

  void run() {
    lost_ = course_.reason == "numerical" && !std::isfinite(course_.objective);
    if (fit_.whole() && course_.reason.empty()) keep();
    do {
      while (!lost_ && (!fit_.whole() || (course_.reason.empty() && laps_left()))) one_lap();
      if (course_.reason.empty()) course_.reason = "max_laps";
    } while (!lost_ && another_phase());
    if (course_.converged && course_.cut) {
      course_.converged = false;
      course_.reason = "max_laps";
    }
  }

 private:
  bool laps_left() const { return course_.laps() - course_.before_phase < options_.max_laps; }

  void one_lap() {
    LapRecord record;
    record.lap = course_.laps() + 1;
    record.elbo = std::numeric_limits<double>::quiet_NaN();
    try {
      pool_.poll();
      record = fit_.lap(record.lap);
    } catch (const Interrupted&) {
      return stop();
    } catch (const std::domain_error&) {
      return take_back(record);
    }
    record.seconds =
        before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    if (fit_.whole()) {
      const double before = course_.objective, now = fit_.objective();
      if (!std::isfinite(now) || (before > now && before - now > fit_.slack())) return take_back(record);
      keep();
      judge(now - before);
    }
    course_.trace.push_back(record);
    if (after_lap_) after_lap_(record);
  }

  void judge(double gain) {
    if (!course_.reason.empty() || !fit_.still()) return;
    course_.converged = gain <= options_.tol * fit_.units();
    if (course_.converged) course_.reason = "elbo";
  }

  void keep() {
    fit_.keep();
    course_.objective = fit_.objective();
  }

  void stop() {
    const bool can_return = std::isfinite(course_.objective) && !course_.trace.empty();
    if (!options_.keep_interrupted || (!can_return && !fit_.next_phase(Why::stopped))) throw Interrupted();
    pool_.go_on();
    course_.reason = "interrupted";
    if (can_return) fit_.go_back();
  }

  void take_back(const LapRecord& record) {
    course_.reason = "numerical";
    course_.taken_back = record;
    lost_ = !std::isfinite(course_.objective);
    if (!lost_) fit_.go_back();
  }

  // True when laps are left for the next phase, or needed.
  bool another_phase() {
    const std::string& reason = course_.reason;
    const Why why = course_.converged         ? Why::converged
                    : reason == "max_laps"    ? Why::laps
                    : reason == "interrupted" ? Why::stopped
                                              : Why::numbers;
    if (!fit_.next_phase(why)) return false;
    course_.objective = std::numeric_limits<double>::quiet_NaN();
    if (why == Why::converged || why == Why::laps) {
      course_.cut = course_.cut || why == Why::laps;
      course_.reason.clear();
      course_.converged = false;
      course_.before_phase = course_.laps();
    }
    if (fit_.whole()) keep();
    return true;
  }

  Fit& fit_;
  Course& course_;
  const DriverOptions& options_;
  Pool& pool_;
  const std::function<void(const LapRecord&)>& after_lap_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double before_ = 0;  // seconds of laps done earlier
  bool lost_ = false;  // numbers broke down before there was a sound state
};

class Run {
 public:
  Run(const Maker& maker, const RestartOptions& options, Pool& pool, Keeper& keeper, Reader* from)
      : maker_(maker), options_(options), pool_(pool), keeper_(keeper) {
    if (from) read(*from);
  }

  Restarted all() {
    for (; restart_ < options_.restarts && !out_.interrupted; ++restart_) {
      if (!one()) break;
      compare();
    }
    return std::move(out_);
  }

 private:
  std::uint64_t seed_of(Index restart) const {
    return restart_seed(options_.seed, static_cast<std::uint64_t>(restart));
  }

  // False when it was stopped before there was anything to return.
  bool one() {
    if (!now_.fit && keeper_.due(0, false)) keep(false);
    try {
      if (!now_.fit) now_ = maker_.begin(seed_of(restart_));
      drive(*now_.fit, now_.course, options_, pool_, [&](const LapRecord& record) {
        pool_.monitor().lap(record);
        if (!now_.fit->can_go_on()) return;
        const Course& course = now_.course;
        const bool last = !course.reason.empty() || course.laps() - course.before_phase >= options_.max_laps;
        if (keeper_.due(record.lap, last)) keep(true);
      });
    } catch (const Interrupted&) {
      if (!options_.keep_interrupted || !out_.best.fit) throw;
      pool_.go_on();
      out_.interrupted = true;
      return false;
    }
    out_.interrupted = now_.course.reason == "interrupted";
    return true;
  }

  static double score(const Learned& of) {
    return std::isfinite(of.course.objective) ? of.fit->score() : std::numeric_limits<double>::quiet_NaN();
  }

  void compare() {
    out_.ends.push_back(now_.course.end());
    out_.seeds.push_back(static_cast<double>(seed_of(restart_)));
    const bool better = !out_.best.fit || score(now_) > score(out_.best) || !std::isfinite(score(out_.best));
    if (better) {
      out_.best = std::move(now_);
      out_.best_restart = restart_;
    }
    now_ = {};
  }

  void keep(bool begun) {
    keeper_.keep([&](Writer& out) {
      out.integer(restart_);
      out.integer(out_.best_restart);
      out.list(out_.ends);
      out.list(out_.seeds);
      for (const Learned* of : {&out_.best, begun ? &now_ : nullptr}) {
        out.flag(of && of->fit);
        if (!of || !of->fit) continue;
        of->course.write(out);
        of->fit->write(out);
      }
    });
  }

  void read(Reader& in) {
    restart_ = in.integer();
    out_.best_restart = in.integer();
    out_.ends = in.list<std::vector<LapRecord>>();
    out_.seeds = in.list<Vec>();
    const Index done = restart_;
    require_stored(0 <= done && done <= options_.restarts && static_cast<Index>(out_.ends.size()) == done &&
                       out_.seeds.size() == out_.ends.size() && 0 <= out_.best_restart &&
                       out_.best_restart <= std::max<Index>(0, done - 1),
                   "restarts");
    for (const auto& [of, restart] : {std::pair(&out_.best, out_.best_restart), std::pair(&now_, restart_)}) {
      if (!in.flag()) continue;
      of->course = Course::read(in);
      of->fit = maker_.read(seed_of(restart), in);
    }
    require_stored(
        in.done() && (out_.best.fit != nullptr) == (done > 0) && !(now_.fit && done == options_.restarts),
        "restarts");
  }

  const Maker& maker_;
  const RestartOptions& options_;
  Pool& pool_;
  Keeper& keeper_;
  Restarted out_;
  Learned now_;  // the restart in progress
  Index restart_ = 0;
};

}  // namespace

void drive(Fit& fit, Course& course, const DriverOptions& options, Pool& pool,
           const std::function<void(const LapRecord&)>& after_lap) {
  Driver(fit, course, options, pool, after_lap).run();
}

Restarted drive_restarts(const Maker& maker, const RestartOptions& options, Pool& pool, Keeper& keeper,
                         Reader* from) {
  return Run(maker, options, pool, keeper, from).all();
}

}  // namespace bnpvi
