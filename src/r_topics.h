// What R keeps of the documents of a topic model.
#pragma once
#include <Rcpp.h>

#include "inference/state.h"

namespace bnpvi {

/// N_dk > 0 as triplets (document and topic from 1, count), documents ascending; NULL when the state's model
/// remembers no documents.
SEXP document_counts_to_r(const State& state, const Source& source);

}  // namespace bnpvi
