#include "r_source.h"

#include <stdexcept>

#include "testing/transient_source.h"

namespace bnpvi {

std::unique_ptr<Source> make_source(const std::string& name, const Dataset& data,
                                    std::vector<std::vector<Index>> units, bool grouped, Index lag) {
  if (name == "memory") return std::make_unique<MemorySource>(data, std::move(units));
  if (name == "transient")
    return std::make_unique<testing::TransientSource>(data, std::move(units), grouped, lag);
  throw std::invalid_argument("unknown source: " + name);
}

Index most_open(const Source& source) {
  const auto* transient = dynamic_cast<const testing::TransientSource*>(&source);
  return transient ? transient->most_open() : 0;
}

}  // namespace bnpvi
