#include "networks/links.h"

#include <stdexcept>

namespace bnpvi::networks {

namespace {

// Adds an entry b to row a for every pair (a, b); both: also an entry a to row b.
SparseRows rows_of(Index n, const std::vector<int>& a, const std::vector<int>& b, const Vec& value,
                   bool both) {
  SparseRows out;
  out.start.assign(static_cast<std::size_t>(n) + 1, 0);
  for (int i : a) ++out.start[i + 1];
  if (both)
    for (int i : b) ++out.start[i + 1];
  for (Index i = 0; i < n; ++i) out.start[i + 1] += out.start[i];
  std::vector<Index> next(out.start.begin(), out.start.end() - 1);
  out.other.resize(static_cast<std::size_t>(out.start.back()));
  if (!value.empty()) out.value.resize(out.other.size());
  const auto put = [&](int row, int column, std::size_t pair) {
    const Index at = next[row]++;
    out.other[at] = column;
    if (!value.empty()) out.value[at] = value[pair];
  };
  for (std::size_t p = 0; p < a.size(); ++p) {
    put(a[p], b[p], p);
    if (both) put(b[p], a[p], p);
  }
  return out;
}

void check_pairs(Index n, const std::vector<int>& from, const std::vector<int>& to) {
  bool good = from.size() == to.size();
  for (std::size_t p = 0; good && p < from.size(); ++p)
    good = from[p] >= 0 && from[p] < n && to[p] >= 0 && to[p] < n && from[p] != to[p];
  if (!good) throw std::invalid_argument("internal error: pairs that are not of two different nodes");
}

}  // namespace

Links::Links(Index n, bool directed, const std::vector<int>& from, const std::vector<int>& to,
             const Vec& value, const std::vector<int>& hidden_from, const std::vector<int>& hidden_to,
             const Vec& loops)
    : n_(n),
      directed_(directed),
      from_(from),
      to_(to),
      hidden_from_(hidden_from),
      hidden_to_(hidden_to),
      value_(value),
      loops_(loops) {
  check_pairs(n, from, to);
  check_pairs(n, hidden_from, hidden_to);
  if (value.size() != from.size()) throw std::invalid_argument("internal error: links without a value");
  if (!loops.empty() && static_cast<Index>(loops.size()) != n)
    throw std::invalid_argument("internal error: there is not a number of loops for each node");
  for (double y : value) total_ += y;
  const std::vector<int> none;
  out_ = rows_of(n, from, to, value, !directed);
  hidden_out_ = rows_of(n, hidden_from, hidden_to, {}, !directed);
  in_ = directed ? rows_of(n, to, from, value, false) : rows_of(n, none, none, {}, false);
  hidden_in_ = directed ? rows_of(n, hidden_to, hidden_from, {}, false) : rows_of(n, none, none, {}, false);
}

void Links::know(ClassSets classes, std::vector<int> set) {
  if (static_cast<Index>(set.size()) != n_)
    throw std::invalid_argument("internal error: there is not a set of classes for each node");
  classes_ = std::move(classes);
  set_ = std::move(set);
}

double Links::n_pairs() const {
  const double n = static_cast<double>(n_);
  return n * (n - 1) * (directed_ ? 1 : 0.5) - n_hidden();
}

}  // namespace bnpvi::networks
