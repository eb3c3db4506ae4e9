// Tables of documents (hdp/tables.h), and the concentrations given them.
#pragma once
#include "foundation/gamma_prior.h"
#include "foundation/random.h"

namespace bnpvi::topics {

/// Σ_d m_dk by topic, for labels starts[d] .. starts[d + 1] − 1 of document d and weights β of the topics.
Vec draw_document_tables(const std::vector<Index>& starts, const std::vector<int>& label, const Vec& beta,
                         double alpha, Stream& stream);

/// α anew, given all tables of these documents; within the limits of the argument `alpha` of R.
double draw_alpha(const GammaPrior& prior, double alpha, const std::vector<Index>& starts, double tables,
                  Stream& stream);

/// γ anew, given that so many tables have k topics; within the limits of the argument `gamma` of R.
double draw_gamma_given(const GammaPrior& prior, double gamma, Index k, double tables, Stream& stream);

}  // namespace bnpvi::topics
