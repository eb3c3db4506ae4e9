// Lets R pass the work on batches to other processes.
#pragma once
#include <map>

#include "inference/learn/batch_work.h"
#include "r_source.h"

namespace bnpvi {

/// Passes tasks (work on single batches) to control$hired$run, an R function that receives a list of tasks as
/// raw bytes and returns their results in the same order. A result NULL means that no other process did the
/// task; this process then does it. If the user interrupts, the R function returns NULL instead of a list.
class RWorkers final : public Workers {
 public:
  RWorkers(Rcpp::Function run, const FitData& data) : run_(std::move(run)), data_(data) {}
  void run(const Problem& problem, const std::vector<BatchWork*>& work) override;

 private:
  const Rcpp::Function run_;
  const FitData& data_;
};

/// The RWorkers of the R function in control$hired; null if control has no such field.
std::unique_ptr<RWorkers> hired_workers(const Rcpp::List& control, const FitData& data);

}  // namespace bnpvi
