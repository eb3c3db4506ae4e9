// What tests add to entries that every build has. A build for users has none of it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "inference/data/source.h"
#include "inference/learn/observer.h"
#include "r_convert.h"

namespace bnpvi {

/// Looks on while a fit is learned, and adds what it saw to the fit's list.
class FitWatch {
 public:
  virtual ~FitWatch() = default;
  virtual Observer& observer() = 0;
  virtual void report(Rcpp::List& out) const = 0;
};

struct TestHooks {
  /// What looks on at a fit with this control; null where the control does not ask for it.
  std::unique_ptr<FitWatch> (*watch)(const ListFields& control) = nullptr;
  /// A source that only tests have, by its name; as make_source(), which calls it for names it
  /// does not know.
  std::unique_ptr<Source> (*source)(const std::string& name, const Dataset& data,
                                    std::vector<std::vector<Index>> units, bool grouped, Index lag) = nullptr;
  /// Most batches of such a source that were open at one time; 0 of another source.
  Index (*most_open)(const Source& source) = nullptr;
};

TestHooks& test_hooks();

}  // namespace bnpvi
