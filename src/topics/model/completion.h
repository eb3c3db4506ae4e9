// Proportions of topics in documents, for prediction under known topics.
#pragma once
#include "foundation/data.h"
#include "foundation/pool.h"

namespace bnpvi::topics {

/// The expected proportions E[π_d] of K topics in documents of counts, under known topics. phi: K × V,
/// column-major, the probability of term v in each topic. a: prior weights of the topics in every document.
/// Computed by zero-order collapsed inference,
///   r_uk ∝ φ_kv (N_dk − r_uk + a_k),
/// r_uk: responsibilities of token u; N_dk − r_uk: expected number of the other tokens of the document in
/// topic k [Asuncion et al. 2009]. This predicts better than a factorised q(π_d) q(z_d), which ignores the
/// dependence of z on π. Result: documents × K, column-major; rows sum to 1.
Vec collapsed_proportions(const Dataset& data, const Vec& phi, const Vec& a, Pool& pool);

/// Predictive probabilities of terms under uncertain topics φ_k ~ Dirichlet(e_k), the posterior from
/// training. e: K × V, column-major. The tokens seen in a document tell something about φ as well as about
/// its proportions π_d. Entry u stands for c_u tokens of word v in document d:
///   r_uk ∝ (e_kv + n_uk − r_uk) / (Σ_v e_kv + N_dk − r_uk) (N_dk − r_uk + a_k),   n_uk = c_u r_uk.
/// If the last topic has the parameters of the prior, a document may start a new topic. held: further tokens
/// of the documents in `seen`. Result: Σ_k E[π_dk] E[φ_kv] for each entry of `held`, with both expectations
/// given the seen tokens of the document.
Vec predictive_probabilities(const Dataset& seen, const Dataset& held, const Vec& e, const Vec& a,
                             Pool& pool);

}  // namespace bnpvi::topics
