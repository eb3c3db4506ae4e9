// Statistics of counts of many terms, most of them zero.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// The entries of a statistic that are above zero, one after the other, with the prior's numbers of their
/// terms: all that its evidence depends on. Scratch of one thread.
struct FewCounts {
  static constexpr Index many = 2048;  // terms from which it pays: a guess

  std::vector<int> at;
  Vec prior, count, log_gamma;  // of the entries: a, t and log Γ(a)
  Vec psi;                      // as long, for results

  Index n() const { return static_cast<Index>(at.size()); }

  /// Gathers them from n entries; false where more than a quarter is above zero.
  bool gather(Index n, const double* a, const double* t, const double* log_gamma_a) {
    const Index most = n / 4;
    at.clear();
    for (Index v = 0; v < n; ++v) {
      if (!(t[v] > 0)) continue;
      if (this->n() == most) return false;
      at.push_back(static_cast<int>(v));
    }
    for (Vec* x : {&prior, &count, &log_gamma, &psi}) x->resize(std::max(x->size(), at.size()));
    for (std::size_t i = 0; i < at.size(); ++i) {
      prior[i] = a[at[i]];
      count[i] = t[at[i]];
      log_gamma[i] = log_gamma_a[at[i]];
    }
    return true;
  }

  static FewCounts& of_this_thread() {
    thread_local FewCounts scratch;
    return scratch;
  }
};

}  // namespace bnpvi
