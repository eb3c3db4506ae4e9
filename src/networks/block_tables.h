// Tables of pairs of communities: sums over pairs of nodes of products of memberships.
#pragma once
#include "networks/links.h"

namespace bnpvi::networks {

/// Adds to `sum` (K numbers) the memberships of a node's neighbours: Σ value · r_other over the entries of
/// the node's row in `rows`; the values are 1 where the rows have none. r: memberships of all nodes, n × k,
/// row-major.
void gather(const SparseRows& rows, Index node, const Vec& r, Index k, double* sum);

/// Adds one pair to the table t (K × K): t_ab += x p_a q_b, with p and q the memberships of its ends.
void add_pair(Vec& t, const double* p, const double* q, double x, Index k);

/// The table Σ value · r_i r_jᵀ over the listed pairs (K × K); value: null: all 1. Undirected: the sum for
/// two communities includes pairs in either order and is stored in both places; within a community each pair
/// counts once.
Vec listed_table(const Links& links, const std::vector<int>& from, const std::vector<int>& to,
                 const Vec* value, const Vec& r, Index k);

/// The table over all pairs of nodes, each with value 1: R Rᵀ − rᵀr, with half of that on the diagonal if
/// undirected. r: memberships of the nodes; size: R = Σ_i r_i.
Vec table_of_all(const Links& links, const Vec& size, const Vec& r, Index k);

/// An estimate of the table over all pairs of nodes, from the pairs of a sample of nodes with all others;
/// each pair is counted half at each end. out: Σ r_i s_iᵀ over the nodes i of the sample, with s_i the sum of
/// r_j over the nodes j to which links (or pairs) of i lead; in: likewise for those that lead to i
/// (undirected: `out` alone). scale: number of all nodes divided by that of the sample.
Vec table_of_ends(const Links& links, const Vec& out, const Vec& in, Index k, double scale);

/// Moves x towards y: x ← (1 − rate) x + rate y.
void move_towards(Vec& x, const Vec& y, double rate);

/// Tables after a change of the communities. table_joined(): b joined a; the row and column of b are added to
/// those of a and removed. table_in_order(): the communities of `order`, in this order; others are left out.
/// Undirected: a block is stored in two places, and counts once within a community.
Vec table_joined(const Vec& t, Index k, Index a, Index b, bool directed);
Vec table_in_order(const Vec& t, Index k, const std::vector<Index>& order);

}  // namespace bnpvi::networks
