// Files from which a fit can go on.
#pragma once
#include <Rcpp.h>

#include <chrono>
#include <optional>

#include "foundation/durable_file.h"
#include "inference/learn/restarts.h"

namespace bnpvi {

/// Writes a run to the file that control$checkpoints names, a list of
///   file    its path
///   every   seconds between two of them
///   header  raw bytes that stand before it in the file, R's part
///   first   true: that the file cannot be written is an error, as nothing is lost yet; else a warning
///   resume  true: the run goes on from the file.
/// Without control$checkpoints nothing is written. For tests: control$keep_lap, the lap after which a run
/// becomes kept(), and control$resume, which was that, in place of a file.
class Checkpoints final : public Keeper {
 public:
  explicit Checkpoints(const Rcpp::List& control);

  /// The run to go on with; null: a new one.
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
  bool keeps_ = false;  // this lap is that one
  Rcpp::RObject kept_;
  Clock::time_point written_ = Clock::now();
};

}  // namespace bnpvi
