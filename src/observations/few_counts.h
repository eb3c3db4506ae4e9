// Statistics of counts of many terms, most of which are zero.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// A short list of the terms whose count t in a statistic is above zero. Each entry has the term's t and a,
/// the prior's parameter. The log evidence depends on nothing else. Scratch memory of one thread.
struct FewCounts {
  static constexpr Index many = 2048;  // number of terms from which gathering pays: a guess

  std::vector<int> at;
  Vec prior, count, log_gamma;  // for each entry: its a, its t and log Γ(a)
  Vec psi;                      // scratch of the same length, for results

  Index n() const { return static_cast<Index>(at.size()); }

  /// Fills the list from a, t and log Γ(a) of n terms. If more than a quarter of the counts t are above zero,
  /// makes no list and returns false.
  bool gather(Index n, const double* a, const double* t, const double* log_gamma_a) {
    constexpr Index at_once = 256;  // terms between two looks at the number of entries
    const Index most = n / 4;
    at.resize(static_cast<std::size_t>(most + at_once));
    Index found = 0;
    for (Index from = 0; from < n; from += at_once) {
      for (Index v = from; v < std::min(n, from + at_once); ++v) {
        at[found] = static_cast<int>(v);
        found += t[v] > 0;
      }
      if (found > most) return false;
    }
    at.resize(static_cast<std::size_t>(found));
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
