// Several fits of the same data from different starts, one after the other; the best fit is returned.
#pragma once
#include "inference/learn/driver.h"

namespace bnpvi {

/// How one of several fits of the same data begins. A plain value.
struct Start {
  std::uint64_t seed = 0;
  Index kind = 0;  // index in RestartOptions::kinds, or their number for the altered end of another start
  Index k = 0;     // initial number of clusters, if there are kinds
};

/// A kind of start, which determines the initial number of clusters: twice as many as the best start so far
/// has ended with, but at least `least` and at most `most`. If a lap with `least` clusters would take more
/// work than is left, and `most` is larger, `least` is lowered to what is left.
struct StartKind {
  Index least = 1, most = 1;
};

struct RestartOptions : DriverOptions {
  Index restarts = 1;
  std::uint64_t seed = 0;  // seed of the first start; the others have restart_seed()

  /// The kinds of starts to be tried. If this is empty, `restarts` fits are made. Otherwise `restarts` is
  /// ignored, and starts of these kinds take turns until one of the following holds:
  ///   - the best start and one of another kind (of the same kind, if there is only one) agree within 1 nat
  ///     or 1e-5 nats per unit;
  ///   - all starts together have done most_work;
  ///   - most_starts were made.
  /// Every kind is tried while there is work left. The first start is always completed, so that the answer is
  /// never worse than that of one start. A later start is given up early in two cases. In the first, every
  /// kind has ended once, and the start is far behind: at equal work, its score is below that of the best
  /// start by more than it gained while its own work doubled. This is checked only after it has done a
  /// quarter of the work of the best start. In the second, all starts together have done three times
  /// most_work, and this one is not ahead.
  ///
  /// If ends of fits can be altered (Maker::alter), each kind has one turn, while there is work left. The
  /// following starts are the altered end of the best start so far, if it has more than one cluster, until
  /// one of the following holds:
  ///   - four such starts agree with the best start, itself not counted; 16, while all starts together have
  ///     done less than a sixteenth of most_work;
  ///   - the kinds agree as above, and four such starts since the best one were not better, or all starts
  ///     together have done most_work;
  ///   - all starts together have done the geometric mean of the work of the first start and of 70 times
  ///     most_work, and at least most_work;
  ///   - most_altered_starts were made in all.
  /// Such a start is given up when it is still further below the end of the best start than it gained while
  /// its work doubled, once it has done a tenth of the work of the first start; and when the limit of all
  /// work has been reached and it is not ahead.
  std::vector<StartKind> kinds;
  double most_work = 0;  // limit for all starts together, in the unit of Pool::spent()
};

constexpr Index most_starts = 50;           // limit for small data whose starts never agree: a guess
constexpr Index most_altered_starts = 200;  // the same where ends are altered, which takes less time: a guess

/// How one of several starts of a fit ended. A plain value.
struct StartEnd {
  Start start;
  LapRecord end;  // line of the table of restarts (Course::end)
  double score = 0;
  Index given_up = 0;
};

/// The result of several fits from different starts: the best fit, and how each of them ended.
struct Restarted {
  Learned best;
  Index best_restart = 0;
  std::vector<StartEnd> ends;
  bool interrupted = false;

  /// True when this start ran to its end (was not given up) and its score is within 1 nat, or 1e-5 nats per
  /// unit of data, of the best score.
  bool agrees(const StartEnd& end) const;
};

/// How to make the fits. begin() makes a fit from a start, which may have done some passes over the data
/// already; read() makes one that continues from what Fit::write() and Course::write() have written.
struct Maker {
  std::function<Learned(const Start&)> begin;
  std::function<std::unique_ptr<Fit>(const Start&, Reader& in)> read;
  /// Makes a fit that starts from the altered end of another one; null: there are no such starts.
  std::function<Learned(const Start&, const Fit& best)> alter = {};
};

/// Stores fits that may have to continue in another process. This base class stores nothing.
class Keeper {
 public:
  virtual ~Keeper() = default;
  /// True when the fit should be stored after this lap (pass over the data; 0: before the first lap of a
  /// start). last: this is the final lap.
  virtual bool due(Index /*lap*/, bool /*last*/) { return false; }
  virtual void keep(const std::function<void(Writer&)>& /*write*/) {}
};

/// Makes fits from several starts, one after the other, and returns the one with the highest score. from: a
/// stored run to continue; null: a new run. If the user stops the run before the present fit has done a lap
/// (pass over the data) without numerical breakdown, the best of the earlier fits is returned.
Restarted drive_restarts(const Maker& maker, const RestartOptions& options, Pool& pool, Keeper& keeper,
                         Reader* from = nullptr);

}  // namespace bnpvi
