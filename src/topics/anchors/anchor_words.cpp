#include "topics/anchors/anchor_words.h"

#include <algorithm>

#include "kernels/kernels.h"
#include "topics/anchors/far_apart.h"

namespace bnpvi::topics {

namespace {

constexpr Index hashes = 4;             // nonzero entries ±1/√4 in each row of the projection: a guess
constexpr Index max_candidates = 8192;  // words that may become anchors, the most frequent: a guess
constexpr Index rows_at_once = 64;      // rows a task: a guess
constexpr int rounds = 100;             // of exponentiated gradient: a guess

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

// A matrix with random signs in a few columns of each row, which approximately preserves distances; the
// identity when m = d.
RowsOfWords random_signs(Index d, Index m, Stream& stream) {
  RowsOfWords out;
  out.m = m;
  out.each = m == d ? 1 : hashes;
  for (Index i = 0; i < d * out.each; ++i) {
    out.place.push_back(static_cast<int>(m == d ? i : stream.index(m)));
    out.value.push_back(m == d ? 1 : stream.uniform() < 0.5 ? -0.5 : 0.5);
  }
  return out;
}

// Words that occur in enough documents for their rows to be reliable, most frequent first.
std::vector<int> candidates_of(const DocumentSums::Counts& counts, Index d, Index k) {
  const Vec& users = counts.users;
  std::vector<int> words;
  for (Index v = 0; v < d; ++v)
    if (counts.half_a[v] > 0 && counts.half_b[v] > 0) words.push_back(static_cast<int>(v));
  std::stable_sort(words.begin(), words.end(), [&](int a, int b) { return users[a] > users[b]; });
  const auto enough = static_cast<double>(std::clamp<Index>(counts.n / 50, 2, 10));
  Index kept = 0;
  while (kept < static_cast<Index>(words.size()) && (users[words[kept]] >= enough || kept < k)) ++kept;
  words.resize(size_of(std::min(kept, max_candidates)));
  return words;
}

double mass_of(const std::vector<int>& words, const Vec& mass) {
  double sum = 0;
  for (int v : words) sum += mass[v];
  return sum;
}

// Replaces each row of `target` (n × k) by the w on the simplex that minimises |target − w gram|² in the norm
// of gram⁻¹.
void least_squares_shares(Vec& target, const Vec& gram, Index k, Pool& pool) {
  const Index n = static_cast<Index>(target.size()) / k, tasks = (n + rows_at_once - 1) / rows_at_once;
  const double rate = 2 / *std::max_element(gram.begin(), gram.end());
  pool.run(tasks, [&](Index task) {
    const Index from = task * rows_at_once, size = std::min(rows_at_once, n - from);
    double* b = target.data() + from * k;
    Vec w(size_of(size * k), 1.0 / static_cast<double>(k)), log_w(w.size(), 0.0), product(w.size()),
        entropy(size_of(size));
    for (int i = 0; i < rounds; ++i) {
      pool.poll();
      kernels().product_nt(size, k, k, w.data(), k, gram.data(), k, product.data(), k);
      for (std::size_t j = 0; j < w.size(); ++j) log_w[j] += rate * (b[j] - product[j]);
      kernels().responsibility_rows(size, k, log_w.data(), k, 0, w.data(), k, entropy.data());
    }
    std::copy(w.begin(), w.end(), b);
  });
}

}  // namespace

AnchorTopics anchor_topics(const PartialCounts& documents, Index d, Index k, bool clear, Stream& stream,
                           Pool& pool, const AnchorLists& given) {
  std::vector<int> half;
  for (Index i = 0; i < documents.n(); ++i) half.push_back(static_cast<int>(stream.index(2)));
  SumsOfCounts sums(documents, half, d, pool);
  return anchor_topics(sums, d, k, clear, stream, pool, given);
}

AnchorTopics anchor_topics(DocumentSums& documents, Index d, Index k, bool clear, Stream& stream, Pool& pool,
                           const AnchorLists& given) {
  AnchorTopics out;
  const DocumentSums::Counts counts = documents.counts();
  AnchorLists anchor;  // of each row: the given lists, then single words
  for (std::size_t i = 0; i < given.size() && static_cast<Index>(anchor.size()) < k; ++i)
    if (mass_of(given[i], counts.half_a) > 0 && mass_of(given[i], counts.half_b) > 0) {
      anchor.push_back(given[i]);
      out.given.push_back(static_cast<int>(i));
    }
  const Index n_given = static_cast<Index>(anchor.size());
  for (int word : candidates_of(counts, d, k)) anchor.push_back({word});
  if (anchor.empty()) return out;

  const Index m = std::min(d, std::max<Index>(256, 2 * k));
  std::vector<int> number(size_of(d), -1);
  int n_words = 0;
  for (const auto& words : anchor)
    for (int v : words)
      if (number[v] < 0) number[v] = n_words++;
  const Vec halves = documents.times_by_half(random_signs(d, m, stream), number, n_words);
  const auto rows = [&](const Vec& mass, Index from) {
    Vec r(anchor.size() * size_of(m), 0.0);
    for (std::size_t i = 0; i < anchor.size(); ++i) {
      double* row = r.data() + i * size_of(m);
      for (int v : anchor[i])
        for (Index j = 0; j < m; ++j) row[j] += halves[size_of(from + number[v] * m + j)];
      for (Index j = 0; j < m; ++j) row[j] /= mass_of(anchor[i], mass);
    }
    return r;
  };
  std::vector<int> words;  // of all anchors, one after the other
  std::vector<std::size_t> ends;
  Vec mass;
  for (Index i :
       far_apart(rows(counts.half_a, 0), rows(counts.half_b, n_words * m), m, k, clear, pool, n_given)) {
    words.insert(words.end(), anchor[i].begin(), anchor[i].end());
    ends.push_back(words.size());
    mass.push_back(mass_of(anchor[i], counts.mass));
    out.word.push_back(i < n_given ? -1 : anchor[i][0]);
  }
  k = static_cast<Index>(ends.size());
  if (k == 0) return out;

  RowsOfWords basis{k, k, {}, Vec(size_of(d * k), 0.0)};
  const Vec columns = documents.columns(words);
  for (Index v = 0; v < d; ++v)
    for (std::size_t j = 0, i = 0; j < ends.size(); ++j) {
      double& to = basis.value[size_of(v * k) + j];
      for (; i < ends[j]; ++i) to += columns[size_of(v) * words.size() + i];
      to /= mass[j];
    }
  Vec gram(size_of(k * k), 0.0);
  kernels().add_product_tn(d, k, k, basis.value.data(), k, basis.value.data(), k, gram.data(), k);
  std::vector<int> used;
  for (Index v = 0; v < d; ++v) {
    number[v] = counts.tokens[v] > 0 ? static_cast<int>(used.size()) : -1;
    if (number[v] >= 0) used.push_back(static_cast<int>(v));
  }
  Vec share = documents.times(basis, number, static_cast<Index>(used.size()));
  for (std::size_t i = 0; i < used.size(); ++i)
    for (Index j = 0; j < k; ++j)
      share[i * size_of(k) + j] /= counts.mass[used[i]] > 0 ? counts.mass[used[i]] : 1;
  least_squares_shares(share, gram, k, pool);

  out.k = k;
  out.t.assign(size_of(k * (d + 1)), 0.0);
  for (Index j = 0; j < k; ++j)
    for (std::size_t i = 0; i < used.size(); ++i)
      out.t[j * (d + 1)] += out.t[j * (d + 1) + 1 + used[i]] =
          counts.tokens[used[i]] * share[i * size_of(k) + j];
  return out;
}

}  // namespace bnpvi::topics
