// Numbers of tables of the topics in documents, and draws of the concentrations given these. A table is a
// group of tokens in the Chinese restaurant franchise (hdp/tables.h).
#pragma once
#include "foundation/gamma_prior.h"
#include "foundation/random.h"

namespace bnpvi::topics {

/// Draws m_dk, the number of tables of topic k in document d (Chinese restaurant franchise). label: topics of
/// the observations; those of document d are starts[d] .. starts[d + 1] − 1. beta: weights β of the topics.
/// The result has m_dk at the position of the first label k of document d, and 0 at all other positions.
std::vector<int> draw_document_tables(const std::vector<Index>& starts, const std::vector<int>& label,
                                      const Vec& beta, double alpha, Stream& stream);

/// The number of tables (groups of tokens in the Chinese restaurant franchise) of each of k topics, summed
/// over documents d: Σ_d m_dk.
Vec tables_by_topic(const std::vector<int>& tables, const std::vector<int>& label, std::size_t k);

/// Draws the concentration α of documents' proportions, given the total number of tables of all documents (in
/// the Chinese restaurant franchise). The result is clamped to the limits of R's argument `alpha`.
double draw_alpha(const GammaPrior& prior, double alpha, const std::vector<Index>& starts, double tables,
                  Stream& stream);

/// Draws the concentration γ of the topics' weights, given the number of tables (in the Chinese restaurant
/// franchise) and the number k of topics. The result is clamped to the limits of R's argument `gamma`.
double draw_gamma_given(const GammaPrior& prior, double gamma, Index k, double tables, Stream& stream);

}  // namespace bnpvi::topics
