// Work on batches that R lets other processes do.
#pragma once
#include <map>

#include "inference/learn/batch_work.h"
#include "r_source.h"

namespace bnpvi {

/// Passes tasks to control$hired$run, an R function that receives a list of tasks (raw bytes) and returns
/// their results in the same order. A result NULL means that no worker did the task, and this process does
/// it. If the user interrupts, the function returns NULL.
class RWorkers final : public Workers {
 public:
  RWorkers(Rcpp::Function run, const FitData& data) : run_(std::move(run)), data_(data) {}
  void run(const Problem& problem, const std::vector<BatchWork*>& work) override;

 private:
  const Rcpp::Function run_;
  const FitData& data_;
};

/// The workers that control$hired describes; null if this field is missing.
std::unique_ptr<RWorkers> hired_workers(const Rcpp::List& control, const FitData& data);

}  // namespace bnpvi
