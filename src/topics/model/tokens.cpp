#include "topics/model/tokens.h"

#include <cmath>
#include <numeric>
#include <stdexcept>

namespace bnpvi::topics {

Tokens::Tokens(const Dataset& counts) : starts{0} {
  const double* const value = counts.value;
  word.reserve(static_cast<std::size_t>(std::accumulate(value, value + counts.row_start[counts.n], 0.0)));
  for (Index d = 0; d < counts.n; ++d) {
    for (int e = counts.row_start[d]; e < counts.row_start[d + 1]; ++e) {
      if (counts.value[e] != std::floor(counts.value[e]))
        throw std::invalid_argument("internal error: counts are not whole numbers");
      word.insert(word.end(), static_cast<std::size_t>(counts.value[e]), counts.column[e]);
    }
    starts.push_back(n());
  }
  word_start.assign(static_cast<std::size_t>(counts.d) + 1, 0);
  for (int w : word) ++word_start[w + 1];
  std::partial_sum(word_start.begin(), word_start.end(), word_start.begin());
  by_word.resize(word.size());
  std::vector<Index> next(word_start.begin(), word_start.end() - 1);
  for (Index i = 0; i < n(); ++i) by_word[next[word[i]]++] = static_cast<int>(i);
}

}  // namespace bnpvi::topics
