// Documents of counts, expanded to single tokens.
#pragma once
#include "foundation/data.h"

namespace bnpvi::topics {

/// Counts of words in documents, written out as single tokens, in the order of the stored counts. Throws
/// std::invalid_argument where a count is not a whole number.
struct Tokens {
  explicit Tokens(const Dataset& counts);

  Index n() const { return static_cast<Index>(word.size()); }
  Index n_words() const { return static_cast<Index>(word_start.size()) - 1; }

  std::vector<int> word;          // word of each token
  std::vector<Index> starts;      // tokens of document d: starts[d] .. starts[d + 1] − 1
  std::vector<int> by_word;       // numbers of the tokens of word 0, then of word 1, ...
  std::vector<Index> word_start;  // where the tokens of each word begin in by_word
};

}  // namespace bnpvi::topics
