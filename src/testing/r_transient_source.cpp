// The source TransientSource by its name, for tests.
#include <stdexcept>

#include "r_testing.h"
#include "testing/transient_source.h"

using namespace bnpvi;

namespace {

std::unique_ptr<Source> source_named(const std::string& name, const Dataset& data,
                                     std::vector<std::vector<Index>> units, bool grouped, Index lag) {
  if (name != "transient") throw std::invalid_argument("unknown source: " + name);
  return std::make_unique<testing::TransientSource>(data, std::move(units), grouped, lag);
}

Index most_open_of(const Source& source) {
  const auto* transient = dynamic_cast<const testing::TransientSource*>(&source);
  return transient ? transient->most_open() : 0;
}

[[maybe_unused]] const bool hooked = [] {
  test_hooks().source = source_named;
  test_hooks().most_open = most_open_of;
  return true;
}();

}  // namespace
