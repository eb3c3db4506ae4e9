// Conversion of the numbers of tokens that documents have of each topic, between R and the engine.
#pragma once
#include <Rcpp.h>

#include "inference/learn/state.h"

namespace bnpvi {

/// The counts N_dk > 0 of tokens of topic k in document d, as triplets (document and topic from 1, count) in
/// ascending order of documents; NULL if the model does not remember documents.
SEXP document_counts_to_r(const State& state, const Source& source);

/// The inverse of document_counts_to_r(). Turns the topic counts of an earlier fit to the same documents into
/// State::earlier, from which the first visit of each document starts. Only counts are restored. The
/// log-likelihoods of tokens in topics are not, nor the responsibilities that follow from them.
std::vector<std::shared_ptr<const UnitMemory>> documents_from_r(const Rcpp::List& counts,
                                                                const Source& source);

}  // namespace bnpvi
