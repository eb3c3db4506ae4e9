// Tables over pairs of communities: sums, over pairs of nodes, of products of the two nodes' memberships.
#pragma once
#include "networks/links.h"

namespace bnpvi::networks {

/// Adds to `sum` (K numbers) the memberships of a node's neighbours: Σ value · r_other over the entries of
/// row `node` of `rows`; entries have value 1 where `rows` has no values. r: memberships of all nodes, n × k,
/// row-major.
void gather(const SparseRows& rows, Index node, const Vec& r, Index k, double* sum);

/// Adds one pair of nodes to the table t (K × K): t_ab += x p_a q_b. p, q: the memberships of its ends; x:
/// its value.
void add_pair(Vec& t, const double* p, const double* q, double x, Index k);

/// The table Σ value · r_i r_jᵀ (K × K) over the pairs (from, to), where r has the memberships of nodes.
/// value: null: all 1. In an undirected network the sum for two communities includes pairs in either order
/// and is stored in both places; within a community each pair counts once.
Vec listed_table(const Links& links, const std::vector<int>& from, const std::vector<int>& to,
                 const Vec* value, const Vec& r, Index k);

/// The table over all pairs of different nodes, each with value 1: R Rᵀ − rᵀr (K × K), with half of that on
/// the diagonal in an undirected network. r: memberships of the nodes; size: R = Σ_i r_i.
Vec table_of_all(const Links& links, const Vec& size, const Vec& r, Index k);

/// Estimates the table over all pairs of nodes from a sample of nodes, each with all its links (or pairs);
/// each pair is counted half at each end. out: Σ r_i s_iᵀ over the nodes i of the sample, with r_i the
/// memberships of a node, and s_i the sum of r_j over the nodes j to which its links lead. in: the same sum
/// for the links that lead to i (in an undirected network only `out` is used). scale: number of all nodes
/// divided by that of the sample.
Vec table_of_ends(const Links& links, const Vec& out, const Vec& in, Index k, double scale);

/// Moves x towards y: x ← (1 − rate) x + rate y.
void move_towards(Vec& x, const Vec& y, double rate);

/// Changes of a K × K table t of pairs of communities. table_joined(): b joins a; the row and column of b are
/// added to those of a and removed. table_in_order(): keeps the communities of `order`, in this order. In an
/// undirected network a pair of communities is stored in two places, and the pairs within a community count
/// once.
Vec table_joined(const Vec& t, Index k, Index a, Index b, bool directed);
Vec table_in_order(const Vec& t, Index k, const std::vector<Index>& order);

}  // namespace bnpvi::networks
