// Hooks through which tests extend the functions that the engine exports. A build for users installs no
// hooks.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "inference/data/source.h"
#include "inference/learn/observer.h"
#include "r_convert.h"

namespace bnpvi {

/// Observes a fit while it is learned, and adds what it observed to the R list of the fit.
class FitWatch {
 public:
  virtual ~FitWatch() = default;
  virtual Observer& observer() = 0;
  virtual void report(Rcpp::List& out) const = 0;
};

struct TestHooks {
  /// Returns an observer for a fit with this control; null if the control does not request one.
  std::unique_ptr<FitWatch> (*watch)(const ListFields& control) = nullptr;
  /// Returns the source (where batches come from) with this name, if only tests have such a source.
  /// make_source() calls it for names that it does not know.
  std::unique_ptr<Source> (*source)(const std::string& name, const Dataset& data,
                                    std::vector<std::vector<Index>> units, bool grouped, Index lag) = nullptr;
  /// The largest number of batches that were open at the same time, for a source that the function `source`
  /// made; 0 for other sources.
  Index (*most_open)(const Source& source) = nullptr;
};

TestHooks& test_hooks();

}  // namespace bnpvi
