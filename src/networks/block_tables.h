// Tables of pairs of communities: sums over pairs of nodes of products of memberships.
#pragma once
#include "networks/links.h"

namespace bnpvi::networks {

/// Σ over the entries of a row of value · r_other (1 where there are no values), added to `sum`, K numbers.
/// r: n × k, row-major.
void gather(const SparseRows& rows, Index node, const Vec& r, Index k, double* sum);

/// t_ab += x p_a q_b, K × K.
void add_pair(Vec& t, const double* p, const double* q, double x, Index k);

/// Σ over listed pairs of value · r_i r_jᵀ, K × K, of value 1 where there are none. Undirected: pairs of two
/// communities in either order, in both places; within a community once.
Vec listed_table(const Links& links, const std::vector<int>& from, const std::vector<int>& to,
                 const Vec* value, const Vec& r, Index k);

/// The same over all pairs of nodes: R Rᵀ − rᵀr, on the diagonal half of it if undirected. size: R = Σ_i r_i.
Vec table_of_all(const Links& links, const Vec& size, const Vec& r, Index k);

/// The table of pairs of all nodes from what some nodes have with all others, each pair from both of its
/// ends: `out` and `in` are sums over these nodes of r_i times what they meet, links that leave and that
/// arrive (undirected: `out` alone). `scale` nodes for each of them.
Vec table_of_ends(const Links& links, const Vec& out, const Vec& in, Index k, double scale);

/// x ← (1 − rate) x + rate y
void move_towards(Vec& x, const Vec& y, double rate);

/// Row and column b added to a and taken out; one taken out; in another order. Undirected: a block is in two
/// places, and counts once within a community.
Vec table_joined(const Vec& t, Index k, Index a, Index b, bool directed);
Vec table_in_order(const Vec& t, Index k, const std::vector<Index>& order);

}  // namespace bnpvi::networks
