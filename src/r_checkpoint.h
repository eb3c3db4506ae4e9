// Files from which a fit can go on.
#pragma once
#include <Rcpp.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include "foundation/archive.h"
#include "foundation/durable_file.h"
#include "foundation/monitor.h"

namespace bnpvi {

/// A fit between two laps, with its restarts: what its rest depends on beside data, models and control. P:
/// Progress, or what another learner has in its place.
template <class P>
struct Run {
  Index restart = 0;      // the one in progress, from 0
  std::optional<P> now;   // of that; none: it has not begun
  std::optional<P> best;  // of the restarts that are done
  Index best_restart = 0;
  std::vector<LapRecord> ends;  // of these restarts
  Vec seeds;                    // of these

  void write(Writer& out, const P* now_instead, const P* best_instead) const {
    out.integer(restart);
    out.integer(best_restart);
    out.list(ends);
    out.list(seeds);
    for (const P* p : {best_instead, now_instead}) {
      out.flag(p != nullptr);
      if (p) p->write(out);
    }
  }

  static Run read(Reader& in) {
    Run out;
    out.restart = in.integer();
    out.best_restart = in.integer();
    out.ends = in.list<std::vector<LapRecord>>();
    out.seeds = in.list<Vec>();
    for (std::optional<P>* p : {&out.best, &out.now})
      if (in.flag()) *p = P::read(in);
    return out;
  }

  /// True of a run of so many restarts.
  bool is_of(Index restarts) const {
    return 0 <= restart && restart <= restarts && static_cast<Index>(ends.size()) == restart &&
           seeds.size() == ends.size() && best.has_value() == (restart > 0) &&
           !(now && restart == restarts) && 0 <= best_restart &&
           best_restart <= std::max<Index>(0, restart - 1);
  }
};

/// Writes a run to the file that control$checkpoints names, a list of
///   file    its path
///   every   seconds between two of them
///   header  raw bytes that stand before it in the file, R's part
///   first   true: that the file cannot be written is an error, as nothing is lost yet; else a warning
///   resume  true: the run goes on from the file.
/// Without control$checkpoints nothing is written.
class Checkpoints {
 public:
  explicit Checkpoints(const Rcpp::List& control);

  /// The run of so many restarts to go on with; a new one where there is none.
  template <class P>
  Run<P> begin(Index restarts) const {
    if (!resume_) return {};
    const std::string bytes = read_checked_file(file_);
    Reader in(bytes.data(), bytes.size());
    in.text();
    Run<P> run = Run<P>::read(in);
    if (!in.done() || !run.is_of(restarts))
      throw std::invalid_argument("the restarts of a stored fit are damaged");
    return run;
  }

  bool resumes() const { return resume_; }
  bool wanted() const { return !file_.empty(); }
  bool due() const;

  /// now, best: in place of those of the run; null: none. Throws FileError for the first one only.
  template <class P>
  void write(const Run<P>& run, const P* now, const P* best) {
    if (!wanted()) return;
    Writer out;
    out.text(header_);
    run.write(out, now, best);
    put(out.bytes());
  }

 private:
  void put(const std::string& bytes);

  using Clock = std::chrono::steady_clock;

  std::string file_, header_;
  double every_ = 0;
  bool first_ = false, resume_ = false, warned_ = false;
  Clock::time_point written_ = Clock::now();
};

}  // namespace bnpvi
