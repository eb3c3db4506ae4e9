// Work on batches that R has done by other processes.
#pragma once
#include <map>

#include "inference/learn/batch_work.h"
#include "r_source.h"

namespace bnpvi {

/// Hands work to control$hired$run, an R function of a list of tasks (raw bytes) that returns their results
/// in the same order, with NULL for tasks that no worker did and that this process does; or NULL when the
/// user interrupts.
class RWorkers final : public Workers {
 public:
  RWorkers(Rcpp::Function run, const FitData& data) : run_(std::move(run)), data_(data) {}
  void run(const Problem& problem, const std::vector<BatchWork*>& work) override;

 private:
  const Rcpp::Function run_;
  const FitData& data_;
};

/// The workers that control$hired describes; null if there is no such field.
std::unique_ptr<RWorkers> hired_workers(const Rcpp::List& control, const FitData& data);

}  // namespace bnpvi
