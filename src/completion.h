// Proportions of documents under known topics, for prediction.
#pragma once
#include "data.h"
#include "pool.h"

namespace bnpvi {

/// E[π_d] for documents of counts under known topics φ (term v's probabilities in K topics: K × V,
/// column-major) and weights a of the topics in every document: zero-order collapsed inference
///   r_uk ∝ φ_kv (N_dk − r_uk + a_k),
/// a token's responsibilities given the expected assignments of the others [Asuncion et al. 2009]. Without
/// the variance that a factorised q(π_d) q(z_d) leaves out it predicts better. Result: documents × K,
/// column-major, rows sum to 1.
Vec collapsed_proportions(const Dataset& data, const Vec& phi, const Vec& a, Pool& pool);

}  // namespace bnpvi
