// Conversion of the topic counts of documents between R and the engine.
#pragma once
#include <Rcpp.h>

#include "inference/learn/state.h"

namespace bnpvi {

/// The counts N_dk > 0 as triplets (document and topic from 1, count), documents ascending; NULL if the
/// model does not remember documents.
SEXP document_counts_to_r(const State& state, const Source& source);

/// The inverse of document_counts_to_r(): turns the counts of an earlier fit to the same documents into
/// State::earlier, where the first visit of each document starts. Only counts are restored; the shares have
/// no log-likelihoods, hence no responsibilities.
std::vector<std::shared_ptr<const UnitMemory>> documents_from_r(const Rcpp::List& counts,
                                                                const Source& source);

}  // namespace bnpvi
