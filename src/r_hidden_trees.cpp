// An entry that orders the rows of trees.
#include <algorithm>

#include "chains/moves/stretches.h"
#include "chains/trees/tree_messages.h"
#include "r_convert.h"

using namespace bnpvi;
using namespace bnpvi::chains;

// Orders the rows of trees as the engine needs them: each root of `roots` (rows from 1) is followed by its
// subtree, all rows of a subtree are contiguous, and children are in the order of their rows. parent: for
// each row its parent, from 1; 0 for roots. `back`: for each row of the result, how many rows earlier its
// parent is. Rows that cannot be reached from a root, as in cycles or below one, are left out.
// [[Rcpp::export]]
Rcpp::List engine_tree_order(Rcpp::IntegerVector parent, Rcpp::IntegerVector roots) {
  const int n = static_cast<int>(parent.size());
  std::vector<int> first_child(static_cast<std::size_t>(n), -1), next_sibling(first_child),
      place(first_child), order, back, waiting;
  for (int i = n - 1; i >= 0; --i) {
    const int p = parent[i] - 1;
    if (p < 0) continue;
    next_sibling[i] = first_child[p];
    first_child[p] = i;
  }
  for (int root : roots) {
    waiting.push_back(root - 1);
    while (!waiting.empty()) {
      const int row = waiting.back();
      waiting.pop_back();
      place[row] = static_cast<int>(order.size());
      back.push_back(parent[row] > 0 ? place[row] - place[parent[row] - 1] : 0);
      order.push_back(row + 1);
      const std::size_t before = waiting.size();
      for (int child = first_child[row]; child >= 0; child = next_sibling[child]) waiting.push_back(child);
      std::reverse(waiting.begin() + static_cast<std::ptrdiff_t>(before), waiting.end());
    }
  }
  return Rcpp::List::create(Rcpp::_["order"] = order, Rcpp::_["back"] = back);
}
