// Checkpoints: files from which an interrupted fit can be continued.
#pragma once
#include <Rcpp.h>

#include <chrono>
#include <optional>

#include "foundation/durable_file.h"
#include "foundation/file_error.h"
#include "inference/learn/restarts.h"

namespace bnpvi {

/// Writes the state of a run to a file, as the R list control$checkpoints says. Without this list nothing is
/// written. Its elements:
///   file    path of the file
///   every   seconds between two checkpoints
///   header  raw bytes of R, written before the engine's part
///   first   true: failure to write is an error, since nothing has been lost yet; false: a warning
///   resume  true: continue from the file.
/// Two elements of control are only for tests. keep_lap: the lap (pass over all batches) after which the
/// state of the run is stored in kept(). resume: a state stored in this way, from which to continue instead
/// of a file.
class Checkpoints final : public Keeper {
 public:
  explicit Checkpoints(const Rcpp::List& control);

  /// The stored state of an interrupted run that is continued; null if a new run begins.
  Reader* stored() { return stored_ ? &*stored_ : nullptr; }
  SEXP kept() const { return kept_; }

  bool due(Index lap, bool last) override;
  void keep(const std::function<void(Writer&)>& write) override;

 private:
  void put(const std::string& bytes);

  using Clock = std::chrono::steady_clock;

  std::string file_, header_, bytes_;
  std::optional<Reader> stored_;
  double every_ = 0;
  bool first_ = false, warned_ = false;
  Index keep_lap_ = -1;
  bool keeps_ = false;  // is the present lap keep_lap_?
  Rcpp::RObject kept_;
  Clock::time_point written_ = Clock::now();
};

}  // namespace bnpvi
