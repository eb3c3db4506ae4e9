// Tables of documents (hdp/tables.h), and the concentrations given them.
#pragma once
#include "foundation/gamma_prior.h"
#include "foundation/random.h"

namespace bnpvi::topics {

/// m_dk at the first of the labels k in starts[d] .. starts[d + 1] − 1, 0 at all others; β: of the topics.
std::vector<int> draw_document_tables(const std::vector<Index>& starts, const std::vector<int>& label,
                                      const Vec& beta, double alpha, Stream& stream);

/// Σ_d m_dk by topic, k of them.
Vec tables_by_topic(const std::vector<int>& tables, const std::vector<int>& label, std::size_t k);

/// Draws α given the tables of all documents; within the limits of the argument `alpha` of R.
double draw_alpha(const GammaPrior& prior, double alpha, const std::vector<Index>& starts, double tables,
                  Stream& stream);

/// Draws γ given the number of tables, which have k topics; within the limits of R's argument `gamma`.
double draw_gamma_given(const GammaPrior& prior, double gamma, Index k, double tables, Stream& stream);

}  // namespace bnpvi::topics
