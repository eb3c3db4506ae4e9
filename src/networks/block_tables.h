// Tables (K × K) with an entry for each pair of communities: sums of products of the memberships of two
// nodes.
#pragma once
#include "networks/links.h"

namespace bnpvi::networks {

/// Adds up the memberships of the neighbours of a node: sum += Σ value · r_j over the entries (node, j) of
/// `rows`. The value is 1 where `rows` has no values. r: memberships of all nodes, n × K, row-major. sum: K
/// numbers.
void gather(const SparseRows& rows, Index node, const Vec& r, Index k, double* sum);

/// Adds one pair of nodes with value x to the table t (K × K): t_ab += x p_a q_b. p, q: the memberships of
/// the two nodes.
void add_pair(Vec& t, const double* p, const double* q, double x, Index k);

/// The table Σ value · r_i r_jᵀ (K × K) over the listed pairs of nodes (from, to). r: memberships of all
/// nodes. value: a number for each pair; null means 1. In an undirected network the entries ab and ba are the
/// same and count the pairs in either order; an entry aa counts each pair once.
Vec listed_table(const Links& links, const std::vector<int>& from, const std::vector<int>& to,
                 const Vec* value, const Vec& r, Index k);

/// The table over all pairs of different nodes, each with value 1: R Rᵀ − rᵀr (K × K). In an undirected
/// network the diagonal is half of that. r: memberships of the nodes; size: R = Σ_i r_i.
Vec table_of_all(const Links& links, const Vec& size, const Vec& r, Index k);

/// Estimates the table over all pairs of nodes from a sample of nodes, for which all links (or all pairs) are
/// known. Each pair counts half for each of its two nodes.
///
/// out: Σ_i r_i s_iᵀ over the nodes i of the sample, where r_i is the membership of node i and s_i is the sum
/// of r_j over the nodes j to which i has links.
///
/// in: the same with the links that lead to node i. It is not used in undirected networks.
///
/// scale: the number of all nodes divided by the number in the sample.
Vec table_of_ends(const Links& links, const Vec& out, const Vec& in, Index k, double scale);

/// Moves x towards y: x ← (1 − rate) x + rate y.
void move_towards(Vec& x, const Vec& y, double rate);

/// Changes of a table t (K × K) of sums over pairs of nodes. table_joined() joins community b to a: the row
/// and the column of b are added to those of a and removed. table_in_order() keeps the communities in
/// `order`, in this order. Undirected tables are symmetric, and count pairs within a community once.
Vec table_joined(const Vec& t, Index k, Index a, Index b, bool directed);
Vec table_in_order(const Vec& t, Index k, const std::vector<Index>& order);

}  // namespace bnpvi::networks
