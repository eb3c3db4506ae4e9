// Numbers of tables of the topics in documents, as in a Chinese restaurant franchise (hdp/tables.h), and
// draws of the concentrations given these numbers.
#pragma once
#include "foundation/gamma_prior.h"
#include "foundation/random.h"

namespace bnpvi::topics {

/// Draws m_dk, the number of tables of topic k in document d (in the Chinese restaurant franchise). labels
/// starts[d] .. starts[d + 1] − 1 are the topics of document d: the result has m_dk at the position of the
/// first label k among these, and 0 at all others. beta: weights β of the topics.
std::vector<int> draw_document_tables(const std::vector<Index>& starts, const std::vector<int>& label,
                                      const Vec& beta, double alpha, Stream& stream);

/// Numbers of tables of each of k topics, summed over documents: Σ_d m_dk.
Vec tables_by_topic(const std::vector<int>& tables, const std::vector<int>& label, std::size_t k);

/// Draws α given the number of tables of all documents; clamped to the limits of R's argument `alpha`.
double draw_alpha(const GammaPrior& prior, double alpha, const std::vector<Index>& starts, double tables,
                  Stream& stream);

/// Draws γ given the number of tables and the number k of topics; clamped to the limits of R's argument
/// `gamma`.
double draw_gamma_given(const GammaPrior& prior, double gamma, Index k, double tables, Stream& stream);

}  // namespace bnpvi::topics
