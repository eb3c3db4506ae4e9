// Lets R pass the work on batches to other processes.
#pragma once
#include <string>
#include <vector>

#include "inference/learn/batch_work.h"
#include "r_source.h"

namespace bnpvi {

/// Passes messages, each with the work on one or several batches, to control$hired$run. This R function
/// receives a list of messages as raw bytes and returns their results in the same order. A result NULL means
/// that no other process did the work of the message; this process then does it. If the user interrupts, the
/// R function returns NULL instead of a list.
class RWorkers final : public Workers {
 public:
  /// hired: list(run, messages, least_products). messages: an R function that returns the largest number of
  /// messages at a time.
  RWorkers(const Rcpp::List& hired, const FitData& data);
  void run(const Problem& problem, const std::vector<BatchWork*>& work) override;
  double least_products() const override { return least_products_; }

 private:
  // A message with n tasks. What they have in common (globals, learned fields) is in it once.
  std::string message(const std::string& learned, const BatchWork* const* work, std::size_t n) const;
  std::size_t most_messages(std::size_t tasks) const;

  const Rcpp::Function run_;
  const Rcpp::Function messages_;
  const double least_products_;
  const FitData& data_;
};

/// The RWorkers of the R function in control$hired; null if control has no such field.
std::unique_ptr<RWorkers> hired_workers(const Rcpp::List& control, const FitData& data);

}  // namespace bnpvi
