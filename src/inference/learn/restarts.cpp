#include "inference/learn/restarts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "foundation/random.h"
#include "inference/learn/check_progress.h"

namespace bnpvi {

namespace {

// Guesses.
constexpr double overtime = 3;  // multiple of most_work after which only a start that is ahead may continue
constexpr double early = 0.25;  // fraction of the best start's work before which others are not compared
constexpr double early_altered = 0.1;  // the same for altered ends, as a fraction of the first start's work
constexpr double longest =
    70;  // multiple of most_work: a first start that takes it is not followed by others
constexpr Index enough_returns = 4;  // altered starts that agree with the best one: so many end the search
constexpr Index many_returns = 16;   // the same while starts cost next to nothing
constexpr double next_to_nothing = 1.0 / 16;  // multiple of most_work

// The value that laps raise: the log joint in a search over hard labels, otherwise the bound. The two cannot
// be compared, as the log joint is no bound.
struct Value {
  bool hard;
  double value;
};

Value value_of(const LapRecord& lap) {
  const bool hard = !std::isnan(lap.log_joint);
  return {hard, hard ? lap.log_joint : lap.elbo};
}

// The last lap that ended with at most this much work; null: none.
const LapRecord* at_work(const std::vector<LapRecord>& trace, double work) {
  const auto after =
      std::find_if(trace.begin(), trace.end(), [&](const LapRecord& lap) { return lap.work > work; });
  return after == trace.begin() ? nullptr : &*(after - 1);
}

// Starts are compared each time their work has doubled. If that is so at the last lap, returns the gain since
// the comparison before; otherwise none.
std::optional<double> gain_at_comparison(const std::vector<LapRecord>& trace) {
  std::size_t last = 0, before = 0;
  for (std::size_t i = 1; i < trace.size(); ++i)
    if (trace[i].work >= 2 * trace[last].work) {
      before = last;
      last = i;
    }
  if (last == 0 || last + 1 < trace.size()) return {};
  const Value now = value_of(trace[last]), then = value_of(trace[before]);
  if (now.hard != then.hard) return {};
  return now.value - then.value;
}

class Run {
 public:
  Run(const Maker& maker, const RestartOptions& options, Pool& pool, Keeper& keeper, Reader* from)
      : maker_(maker), options_(options), pool_(pool), keeper_(keeper) {
    if (from) read(*from);
  }

  Restarted all() {
    while (!out_.interrupted && (now_.fit || another()) && one()) compare();
    return std::move(out_);
  }

 private:
  Index done() const { return static_cast<Index>(out_.ends.size()); }
  Index n_kinds() const { return static_cast<Index>(options_.kinds.size()); }
  bool chooses() const { return n_kinds() > 0; }
  bool each_kind_has_ended() const { return done() >= n_kinds(); }
  // Whether the next start is the altered end of the best one.
  bool alters() const {
    return chooses() && maker_.alter && done() > 0 &&
           (each_kind_has_ended() || spent() >= options_.most_work) &&
           std::isfinite(out_.best.course.objective) && out_.best.course.end().k > 1;
  }
  bool is_altered(const Start& start) const { return chooses() && start.kind == n_kinds(); }

  // The work that all starts together may do while ends are altered.
  double work_with_altered() const {
    return std::max(options_.most_work, std::sqrt(out_.ends[0].end.work * longest * options_.most_work));
  }

  double spent() const {
    double all = now_.course.work;
    for (const StartEnd& end : out_.ends) all += end.end.work;
    return all;
  }

  bool another() const {
    if (!chooses()) return done() < options_.restarts;
    if (done() == 0) return true;
    if (alters()) return spent() < work_with_altered() && done() < most_altered_starts && !settled();
    return spent() < options_.most_work && (!each_kind_has_ended() || (done() < most_starts && !agreed()));
  }

  // How many starts of different kinds agree with the best one, itself counted; of starts of the same kind,
  // if there is only one.
  Index kinds_that_agree() const {
    std::vector<Index> of_kind(static_cast<std::size_t>(n_kinds()));
    for (const StartEnd& end : out_.ends)
      if (!is_altered(end.start) && out_.agrees(end)) ++of_kind[static_cast<std::size_t>(end.start.kind)];
    return n_kinds() == 1 ? of_kind[0] : n_kinds() - std::count(of_kind.begin(), of_kind.end(), 0);
  }

  // How many altered starts agree with the best one, itself not counted.
  Index returns() const {
    const auto has_returned = [this](const StartEnd& end) {
      return is_altered(end.start) && out_.agrees(end);
    };
    return std::count_if(out_.ends.begin(), out_.ends.end(), has_returned) -
           (is_altered(out_.ends[out_.best_restart].start) ? 1 : 0);
  }

  bool agreed() const { return kinds_that_agree() > 1; }

  // Whether altered starts have shown that the best one is not easily surpassed.
  bool settled() const {
    if (spent() < next_to_nothing * options_.most_work) return returns() >= many_returns;
    if (returns() >= enough_returns) return true;
    const Index not_better = std::min(done() - 1 - out_.best_restart, done() - n_kinds());
    return agreed() && (spent() >= options_.most_work || not_better >= enough_returns);
  }

  // The start of restart number `restart`.
  Start start_of(Index restart) const {
    Start out{restart_seed(options_.seed, static_cast<std::uint64_t>(restart))};
    if (!chooses()) return out;
    if (alters()) {
      out.kind = n_kinds();
      return out;
    }
    out.kind = restart % n_kinds();
    const StartKind& kind = options_.kinds[out.kind];
    const Index twice = 2 * (out_.best.fit ? out_.best.course.end().k : 1);
    const bool fixed = kind.least == kind.most;
    const Index least = fixed ? kind.least : std::min(kind.least, std::max(twice, affordable()));
    out.k = std::clamp(twice, least, kind.most);
    return out;
  }

  // How many clusters one lap can have with the work that is left, if each takes as much as in a lap of the
  // best start.
  Index affordable() const {
    constexpr Index max_clusters = std::numeric_limits<int>::max();
    if (!out_.best.fit) return max_clusters;
    const Course& best = out_.best.course;
    const double laps = std::max(1.0, static_cast<double>(best.laps())),
                 k = std::max(1.0, static_cast<double>(best.end().k));
    const double of_one = best.work / laps / k, left = options_.most_work - spent();
    return of_one > 0 && left < of_one * max_clusters ? static_cast<Index>(std::max(left / of_one, 0.0))
                                                      : max_clusters;
  }

  bool falls_behind() const {
    if (!chooses() || !out_.best.fit) return false;
    if (is_altered(start_)) return altered_falls_behind();
    const std::vector<LapRecord>& trace = now_.course.trace;
    const Value now = value_of(trace.back());
    if (spent() > overtime * options_.most_work && !(now_.course.objective > out_.best.course.objective))
      return true;
    if (!each_kind_has_ended()) return false;
    if (trace.back().work < early * out_.best.course.work) return false;
    const std::optional<double> gain = gain_at_comparison(trace);
    const LapRecord* rival = gain ? at_work(out_.best.course.trace, trace.back().work) : nullptr;
    return rival && value_of(*rival).hard == now.hard && value_of(*rival).value - now.value > *gain;
  }

  bool altered_falls_behind() const {
    const double behind = out_.best.course.objective - now_.course.objective;
    if (spent() > work_with_altered()) return behind > 0;
    if (now_.course.work < early_altered * out_.ends[0].end.work) return false;
    const std::optional<double> gain = gain_at_comparison(now_.course.trace);
    return gain && behind > *gain;
  }

  // Makes one restart; false when it was stopped before there was anything to return.
  bool one() {
    if (!now_.fit && keeper_.due(0, false)) keep(false);
    try {
      if (!now_.fit) begin();
      drive(*now_.fit, now_.course, options_, pool_, [&](const LapRecord& record) {
        pool_.monitor().lap(record);
        Course& course = now_.course;
        if (course.reason.empty() && falls_behind()) course.reason = "given_up";
        if (!now_.fit->can_go_on()) return;
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

  void begin() {
    start_ = start_of(done());
    const double spent = pool_.spent();
    now_ = is_altered(start_) ? maker_.alter(start_, *out_.best.fit) : maker_.begin(start_);
    now_.course.work = pool_.spent() - spent;
  }

  static double score(const Learned& of) {
    return std::isfinite(of.course.objective) ? of.fit->score() : std::numeric_limits<double>::quiet_NaN();
  }

  void compare() {
    const bool given_up = now_.course.reason == "given_up";
    out_.ends.push_back({start_, now_.course.end(), score(now_), given_up});
    const bool better = !out_.best.fit || score(now_) > score(out_.best) || !std::isfinite(score(out_.best));
    if (better && !given_up) {
      out_.best = std::move(now_);
      out_.best_restart = done() - 1;
    }
    now_ = {};
  }

  void keep(bool begun) {
    const Learned none;
    keeper_.keep([&](Writer& out) {
      out.integer(out_.best_restart);
      out.list(out_.ends);
      out.list(&start_, 1);
      for (const Learned* of : {&std::as_const(out_.best), begun ? &std::as_const(now_) : &none}) {
        out.flag(of->fit != nullptr);
        if (!of->fit) continue;
        of->course.write(out);
        of->fit->write(out);
      }
    });
  }

  void read(Reader& in) {
    out_.best_restart = in.integer();
    out_.ends = in.list<std::vector<StartEnd>>();
    start_ = in.list<std::vector<Start>>().at(0);
    const auto is_known = [this](const Start& s) {
      return 0 <= s.kind && s.kind < std::max<Index>(1, n_kinds() + (maker_.alter ? 1 : 0));
    };
    require_stored(0 <= out_.best_restart && out_.best_restart <= std::max<Index>(0, done() - 1) &&
                       (chooses() || done() <= options_.restarts) && is_known(start_) &&
                       std::all_of(out_.ends.begin(), out_.ends.end(),
                                   [&](const StartEnd& e) { return is_known(e.start); }),
                   "restarts");
    if (in.flag()) read_into(out_.best, out_.ends.at(out_.best_restart).start, in);
    if (in.flag()) read_into(now_, start_, in);
    const bool ended = !chooses() && done() == options_.restarts;
    require_stored(in.done() && (out_.best.fit != nullptr) == (done() > 0) && !(now_.fit && ended),
                   "restarts");
  }

  void read_into(Learned& into, const Start& start, Reader& in) {
    into.course = Course::read(in);
    into.fit = maker_.read(start, in);
  }

  const Maker& maker_;
  const RestartOptions& options_;
  Pool& pool_;
  Keeper& keeper_;
  Restarted out_;
  Start start_;  // the start of the restart in progress
  Learned now_;
};

}  // namespace

bool Restarted::agrees(const StartEnd& end) const {
  constexpr double least = 1, of_unit = 1e-5;
  return !end.given_up &&
         end.score >= ends[best_restart].score - std::max(least, of_unit * best.fit->units());
}

Restarted drive_restarts(const Maker& maker, const RestartOptions& options, Pool& pool, Keeper& keeper,
                         Reader* from) {
  return Run(maker, options, pool, keeper, from).all();
}

}  // namespace bnpvi
