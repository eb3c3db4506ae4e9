// Files from which a fit can go on.
#pragma once
#include <Rcpp.h>

#include <chrono>
#include <optional>

#include "inference/progress.h"

namespace bnpvi {

/// One call of engine_fit() between two laps: what its rest depends on beside data, models and control.
struct Run {
  Index restart = 0;             // the one in progress, from 0
  std::optional<Progress> now;   // of that; none: it has not begun
  std::optional<Progress> best;  // of the restarts that are done
  Index best_restart = 0;
  std::vector<LapRecord> ends;  // of these restarts
  Vec seeds;                    // of these

  void write(Writer& out, const Progress* now, const Progress* best) const;
  static Run read(Reader& in);
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

  /// The run to go on with; a new one where there is none.
  Run begin() const;

  bool wanted() const { return !file_.empty(); }
  bool due() const;

  /// now, best: in place of those of the run; null: none. Throws FileError for the first one only.
  void write(const Run& run, const Progress* now, const Progress* best);

 private:
  using Clock = std::chrono::steady_clock;

  std::string file_, header_;
  double every_ = 0;
  bool first_ = false, resume_ = false, warned_ = false;
  Clock::time_point written_ = Clock::now();
};

}  // namespace bnpvi
