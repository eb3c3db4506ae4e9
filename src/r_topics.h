// What R keeps of the documents of a topic model.
#pragma once
#include <Rcpp.h>

#include "inference/state.h"

namespace bnpvi {

/// N_dk > 0 as triplets (document and topic from 1, count), documents ascending; NULL when the state's model
/// remembers no documents.
SEXP document_counts_to_r(const State& state, const Source& source);

/// The inverse: the counts of an earlier fit to the same documents as State::earlier, from which the first
/// visit of each starts. There are no responsibilities that go with them.
std::vector<std::shared_ptr<const UnitMemory>> documents_from_r(const Rcpp::List& counts,
                                                                const Source& source);

}  // namespace bnpvi
