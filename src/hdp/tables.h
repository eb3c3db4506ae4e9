// The top level of a hierarchical Dirichlet process in a sampler. Clusters have weights β_1, ..., β_K, and
// β_rest is left for all others; group j has n_jk observations of cluster k, from proportions Dirichlet(αβ)
// that are integrated out. Of the observations of a group some, its m_jk tables, have drawn their cluster
// from β itself, the others from observations of their group [Teh and others 2006].
#pragma once
#include <vector>

#include "foundation/gamma_prior.h"
#include "foundation/random.h"

namespace bnpvi {

/// The number of tables of n observations when c = αβ_k: m has probability s(n, m) c^m Γ(c) / Γ(c + n), s the
/// unsigned Stirling numbers of the first kind. Takes time in proportion to n.
Index draw_tables(Index n, double c, Stream& stream);

/// Of the tables of one row.
struct RowTables {
  Index all = 0;        // m_j·
  Index overrides = 0;  // o_j: those that κ has chosen, not β
};

/// The tables of a row of K counts with proportions Dirichlet(αβ + κδ_self) [Fox and others 2011]; of those
/// of cluster `self` Binomial(m, κ/(κ + αβ)) are overrides. The others are added to `chosen` (K). κ = 0: no
/// overrides, whatever `self` is.
RowTables draw_row_tables(const Index* count, const Vec& beta, double alpha, double sticky, Index self,
                          std::vector<Index>& chosen, Stream& stream);

/// β_1, ..., β_K, β_rest from Dirichlet(m_1, ..., m_K, γ): their posterior given m_k > 0 tables.
Vec draw_top_weights(const Vec& tables, double gamma, Stream& stream);

/// A new cluster takes the share Beta(1, γ) of β_rest: it goes before the rest.
void open_cluster(Vec& beta, double gamma, Stream& stream);

/// γ anew, given that m tables have K clusters [Escobar & West 1995]; from its prior where there are none. β
/// is integrated out, so it must be drawn after γ, from draw_top_weights() with the new γ: the other way
/// round they would lose what they have to do with each other.
double draw_top_concentration(const GammaPrior& prior, double gamma, Index k, Index tables, Stream& stream);

/// α anew (with sticky mass α + κ), given the numbers n_j of observations of the groups and Σ_j m_j· [Teh and
/// others 2006, appendix A].
double draw_group_concentration(const GammaPrior& prior, double alpha, const std::vector<Index>& size,
                                Index tables, Stream& stream);

}  // namespace bnpvi
