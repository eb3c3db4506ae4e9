// Probabilities of whole documents under known topics, for prediction.
#pragma once
#include <cstdint>

#include "foundation/data.h"
#include "foundation/pool.h"

namespace bnpvi::topics {

/// Estimates log p(w_d) of documents of counts under known topics φ, with the document's proportions π_d ~
/// Dirichlet(a) integrated out. phi: K × V, column-major, the probability of term v in each of K topics. p is
/// the probability of the tokens as a sequence, without the multinomial coefficient. The estimate p̂ is the
/// mean over `draws` of
///   Π_i Σ_k (n_k + a_k)/(i − 1 + Σ a) φ_kw_i,   n_k: tokens before i with topic k,
/// Tokens are in random order. The topic of each is drawn with probability proportional to its term of the
/// sum. p̂ is unbiased for p(w_d) [Buntine 2009, left-to-right sequential sampler]. Weights a ≥ 0, not all 0.
/// The random numbers for document d depend on the seed, d and the document alone. Result: one number for
/// each document, 0 for empty ones.
Vec sequential_estimates(const Dataset& data, const Vec& phi, const Vec& a, Index draws, std::uint64_t seed,
                         Pool& pool);

}  // namespace bnpvi::topics
