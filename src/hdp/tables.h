// The weights β of the clusters of a hierarchical Dirichlet process, in a sampler. β_1, ..., β_K belong to
// the K clusters; β_rest is the total weight of all other, empty clusters. Group j has n_jk observations of
// cluster k. Its proportions are Dirichlet(αβ), and are integrated out. Then some observations of a group,
// its m_jk tables, draw their cluster from β; the others draw it from earlier observations of the group [Teh
// and others 2006].
#pragma once
#include <vector>

#include "foundation/gamma_prior.h"
#include "foundation/random.h"

namespace bnpvi {

/// Draws the number m of tables among n observations: those that drew their cluster from the shared weights
/// β. With c = αβ_k, m has probability s(n, m) c^m Γ(c) / Γ(c + n), where s are the unsigned Stirling numbers
/// of the first kind. Takes time proportional to n.
Index draw_tables(Index n, double c, Stream& stream);

/// Numbers of tables of one group (one row of counts). Tables are observations that drew their cluster from
/// the shared weights.
struct RowTables {
  Index all = 0;        // m_j·, the number of tables of all clusters
  Index overrides = 0;  // o_j, the number of tables whose cluster was chosen by κ, not by β
};

/// Draws the tables of a row of K counts with proportions Dirichlet(αβ + κδ_self) [Fox and others 2011].
/// Tables are observations that drew their cluster from the shared weights β. Of the m tables of cluster
/// `self`, Binomial(m, κ/(κ + αβ_self)) are overrides: they are due to κ and say nothing about β. All other
/// tables are added to `chosen` (K counts). With κ = 0 there are no overrides, whatever `self` is.
RowTables draw_row_tables(const Index* count, const Vec& beta, double alpha, double sticky, Index self,
                          std::vector<Index>& chosen, Stream& stream);

/// Draws the shared weights β_1, ..., β_K, β_rest from Dirichlet(m_1, ..., m_K, γ), their posterior given the
/// numbers m_k > 0 of tables (observations that drew their cluster from β).
Vec draw_top_weights(const Vec& tables, double gamma, Stream& stream);

/// Adds a new cluster to the weights beta, just before the last one, β_rest. The new weight is a fraction of
/// β_rest that is drawn from Beta(1, γ).
void open_cluster(Vec& beta, double gamma, Stream& stream);

/// Draws γ anew, given m tables (observations that drew their cluster from the shared weights) with K
/// clusters [Escobar & West 1995]; from its prior if there are no tables. β is integrated out in this step.
/// So draw_top_weights() must draw β afterwards, with the new γ; in the other order the joint distribution of
/// the two would be wrong.
double draw_top_concentration(const GammaPrior& prior, double gamma, Index k, Index tables, Stream& stream);

/// Draws α anew (in sticky models α + κ) [Teh and others 2006, appendix A]. size: the number of observations
/// n_j of each group; tables: Σ_j m_j·, the number of tables (observations that drew their cluster from the
/// shared weights).
double draw_group_concentration(const GammaPrior& prior, double alpha, const std::vector<Index>& size,
                                Index tables, Stream& stream);

}  // namespace bnpvi
