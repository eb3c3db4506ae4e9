#include "inference/learn/driver.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "inference/learn/check_progress.h"

namespace bnpvi {

LapRecord Course::end() const {
  LapRecord record;
  record.lap = laps();
  record.elbo = objective;
  record.k = trace.empty() ? 0 : trace.back().k;
  record.work = work;
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
  out.number(work);
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
  out.work = in.number();
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
    } while (!lost_ && !set_aside() && another_phase());
    if (course_.converged && course_.cut) {
      course_.converged = false;
      course_.reason = "max_laps";
    }
  }

 private:
  bool set_aside() const { return course_.reason == "given_up" || course_.reason == "waits"; }

  bool laps_left() const { return course_.laps() - course_.before_phase < options_.max_laps; }

  void one_lap() {
    LapRecord record;
    record.lap = course_.laps() + 1;
    record.elbo = std::numeric_limits<double>::quiet_NaN();
    const double spent = pool_.spent();
    try {
      pool_.poll();
      record = fit_.lap(record.lap);
    } catch (const Interrupted&) {
      return stop();
    } catch (const std::domain_error&) {
      return take_back(record);
    }
    record.work = course_.work += pool_.spent() - spent;
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
  double before_ = 0;  // seconds of laps in an earlier session
  bool lost_ = false;  // a numerical breakdown occurred before there was a sound state
};

}  // namespace

void drive(Fit& fit, Course& course, const DriverOptions& options, Pool& pool,
           const std::function<void(const LapRecord&)>& after_lap) {
  Driver(fit, course, options, pool, after_lap).run();
}

}  // namespace bnpvi
