// Counts of the tokens of each word in each topic, for sampling.
#pragma once
#include <algorithm>
#include <utility>

#include "topics/model/tokens.h"

namespace bnpvi::topics {

/// For each word, the list of its topics with its number of tokens in each, in descending order of these
/// numbers. A list has space for as many topics as the word has tokens.
class WordTopics {
 public:
  struct Entry {
    int topic, count;
  };

  explicit WordTopics(const Tokens& tokens)
      : tokens_(tokens), entry_(tokens.word.size()), length_(static_cast<std::size_t>(tokens.n_words()), 0) {}

  const Entry* begin(int w) const { return entry_.data() + tokens_.word_start[w]; }
  const Entry* end(int w) const { return begin(w) + length_[w]; }

  void clear() { std::fill(length_.begin(), length_.end(), 0); }

  /// Makes all lists anew. label: topic of each token, 0 .. k − 1. Topics with the same number of tokens are
  /// in ascending order.
  void count(const std::vector<int>& label, Index k) {
    std::vector<int> of_topic(static_cast<std::size_t>(k), 0);
    for (int w = 0; w < static_cast<int>(tokens_.n_words()); ++w) {
      Entry* entries = list(w);
      int n = 0;
      for (Index t = tokens_.word_start[w]; t < tokens_.word_start[w + 1]; ++t) {
        const int j = label[tokens_.by_word[t]];
        if (of_topic[j]++ == 0) entries[n++].topic = j;
      }
      for (int e = 0; e < n; ++e) entries[e].count = std::exchange(of_topic[entries[e].topic], 0);
      std::sort(entries, entries + n, [](const Entry& a, const Entry& b) {
        return a.count != b.count ? a.count > b.count : a.topic < b.topic;
      });
      length_[w] = n;
    }
  }

  /// Adds a token of word w to a topic. The next function, take(), removes a token of word w from the topic
  /// at position `at` of the word's list.
  void add(int w, int topic) {
    Entry* entries = list(w);
    const int n = length_[w];
    int at = 0;
    while (at < n && entries[at].topic != topic) ++at;
    if (at == n) {
      entries[at] = {topic, 1};
      ++length_[w];
      return;
    }
    ++entries[at].count;
    for (; at > 0 && entries[at - 1].count < entries[at].count; --at) std::swap(entries[at - 1], entries[at]);
  }
  void take(int w, Index at) {
    Entry* entries = list(w);
    --entries[at].count;
    for (; at + 1 < length_[w] && entries[at + 1].count > entries[at].count; ++at)
      std::swap(entries[at], entries[at + 1]);
    if (entries[at].count == 0) --length_[w];
  }

 private:
  Entry* list(int w) { return entry_.data() + tokens_.word_start[w]; }

  const Tokens& tokens_;
  std::vector<Entry> entry_;
  std::vector<int> length_;  // length of each word's list
};

}  // namespace bnpvi::topics
