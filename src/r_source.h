// Sources by the name that R gives.
#pragma once
#include <string>

#include "inference/source.h"

namespace bnpvi {

/// "memory", or "transient" for tests (testing/transient_source.h). units: those of each batch, groups or
/// rows; lag: rows before a row that its likelihood needs. Throws std::invalid_argument for another name.
std::unique_ptr<Source> make_source(const std::string& name, const Dataset& data,
                                    std::vector<std::vector<Index>> units, bool grouped, Index lag);

/// Most batches that were open at one time; 0 when the source does not count them.
Index most_open(const Source& source);

}  // namespace bnpvi
