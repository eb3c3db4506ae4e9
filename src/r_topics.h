// Topic counts of documents, between R and the engine.
#pragma once
#include <Rcpp.h>

#include "inference/learn/state.h"

namespace bnpvi {

/// N_dk > 0 as triplets (document and topic from 1, count), documents ascending; NULL when the state's model
/// remembers no documents.
SEXP document_counts_to_r(const State& state, const Source& source);

/// The inverse: from the counts of an earlier fit to the same documents to State::earlier, where the first
/// visit of each document starts. Only counts are restored: the shares have no log-likelihoods, so no
/// responsibilities.
std::vector<std::shared_ptr<const UnitMemory>> documents_from_r(const Rcpp::List& counts,
                                                                const Source& source);

}  // namespace bnpvi
