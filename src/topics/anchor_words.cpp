#include "topics/anchor_words.h"

#include <algorithm>
#include <numeric>

#include "kernels/kernels.h"
#include "topics/far_apart.h"

namespace bnpvi::topics {

namespace {

constexpr Index hashes = 4;             // nonzero entries ±1/√4 in each row of the projection: a guess
constexpr Index max_candidates = 8192;  // words that may become anchors, the most frequent: a guess
constexpr Index rows_at_once = 64;      // rows a task: a guess
constexpr int rounds = 100;             // of exponentiated gradient: a guess

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

// A d × m matrix by its rows: y += x times row v.
struct DenseRows {
  const Vec& value;
  Index m;
  void add(int v, double x, double* y) const { kernels().add_sparse_rows(1, m, &v, &x, value.data(), m, y); }
};

// Random signs at a few places of each row, which keeps distances; the identity when m = d.
struct SignRows {
  SignRows(Index d, Index size, Stream& stream) : m(size), each(size == d ? 1 : hashes) {
    for (Index i = 0; i < d * each; ++i) {
      place.push_back(m == d ? i : stream.index(m));
      sign.push_back(m == d ? 1 : stream.uniform() < 0.5 ? -0.5 : 0.5);
    }
  }
  void add(int v, double x, double* y) const {
    for (Index i = v * each; i < (v + 1) * each; ++i) y[place[i]] += x * sign[i];
  }

  Index m, each;
  std::vector<Index> place;
  Vec sign;
};

// Q of some of the documents: products with it, and its row sums.
class CoOccurrence {
 public:
  CoOccurrence(const PartialCounts& documents, std::vector<Index> which, Index d)
      : documents_(documents), which_(std::move(which)), mass(size_of(d), 0.0) {
    for (Index i : which_) {
      const Index from = documents.row_start[i], n = documents.row_start[i + 1] - from;
      const double* value = documents.value.data() + from;
      const double* square = documents.square.data() + from;
      const double tokens = std::accumulate(value, value + n, 0.0), weight = weight_of(i, tokens);
      for (Index u = 0; u < n; ++u)
        mass[documents.column[from + u]] += weight * (value[u] * tokens - square[u]);
    }
  }

  // out = Q B for the words with a row in `out`: number[word], or −1.
  template <class Rows>
  void times(const Rows& b, const std::vector<int>& number, double* out, Pool& pool) const {
    Vec y(size_of(b.m)), scaled;
    std::vector<int> to;
    for (Index i : which_) {
      pool.poll();
      const Index from = documents_.row_start[i], n = documents_.row_start[i + 1] - from;
      const int* word = documents_.column.data() + from;
      const double* value = documents_.value.data() + from;
      const double weight = weight_of(i, std::accumulate(value, value + n, 0.0));
      std::fill(y.begin(), y.end(), 0.0);
      to.clear();
      scaled.clear();
      for (Index u = 0; u < n; ++u) {
        b.add(word[u], value[u], y.data());
        if (number[word[u]] < 0) continue;
        to.push_back(number[word[u]]);
        scaled.push_back(weight * value[u]);
        b.add(word[u], -weight * documents_.square[from + u], out + to.back() * b.m);
      }
      kernels().scatter_sparse_rows(static_cast<Index>(to.size()), b.m, to.data(), scaled.data(), y.data(),
                                    out, b.m);
    }
  }

  // d × k: the columns of Q that belong to some words.
  Vec columns(const std::vector<int>& words) const {
    const Index k = static_cast<Index>(words.size());
    Vec out(mass.size() * words.size(), 0.0);
    std::vector<int> number(mass.size(), -1);
    for (Index j = 0; j < k; ++j) number[words[j]] = static_cast<int>(j);
    for (Index i : which_) {
      const Index from = documents_.row_start[i], to = documents_.row_start[i + 1];
      const double weight =
          weight_of(i, std::accumulate(documents_.value.begin() + from, documents_.value.begin() + to, 0.0));
      for (Index a = from; a < to; ++a) {
        const int j = number[documents_.column[a]];
        if (j < 0) continue;
        const double x = weight * documents_.value[a];
        for (Index u = from; u < to; ++u) out[documents_.column[u] * k + j] += x * documents_.value[u];
        out[documents_.column[a] * k + j] -= weight * documents_.square[a];
      }
    }
    return out;
  }

 private:
  // Documents count by their tokens.
  double weight_of(Index i, double tokens) const {
    const double pairs =
        tokens * tokens - std::accumulate(documents_.square.begin() + documents_.row_start[i],
                                          documents_.square.begin() + documents_.row_start[i + 1], 0.0);
    return pairs > 0.5 ? tokens / pairs : 0;
  }

  const PartialCounts& documents_;
  std::vector<Index> which_;

 public:
  Vec mass;  // Σ_w Q_vw
};

// Words in enough documents for their rows to mean something, the most frequent first.
std::vector<int> candidates_of(const PartialCounts& documents, Index d, Index k, const Vec& mass_a,
                               const Vec& mass_b) {
  std::vector<Index> users(size_of(d), 0);
  for (std::size_t i = 0; i < documents.column.size(); ++i)
    if (documents.value[i] > 0.5) ++users[documents.column[i]];
  std::vector<int> words;
  for (Index v = 0; v < d; ++v)
    if (mass_a[v] > 0 && mass_b[v] > 0) words.push_back(static_cast<int>(v));
  std::stable_sort(words.begin(), words.end(), [&](int a, int b) { return users[a] > users[b]; });
  const Index enough = std::clamp<Index>(documents.n() / 50, 2, 10);
  Index kept = 0;
  while (kept < static_cast<Index>(words.size()) && (users[words[kept]] >= enough || kept < k)) ++kept;
  words.resize(size_of(std::min(kept, max_candidates)));
  return words;
}

// Rows w on the simplex that minimise |target − w gram|² in the norm of gram⁻¹, in place of `target` (n × k).
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
                           Pool& pool) {
  AnchorTopics out;
  std::vector<Index> all(size_of(documents.n())), halves[2];
  std::iota(all.begin(), all.end(), Index{0});
  for (Index i : all) halves[stream.index(2)].push_back(i);
  const CoOccurrence q(documents, std::move(all), d);
  const CoOccurrence half_a(documents, std::move(halves[0]), d), half_b(documents, std::move(halves[1]), d);
  const std::vector<int> words = candidates_of(documents, d, k, half_a.mass, half_b.mass);
  if (words.empty()) return out;

  const SignRows projection(d, std::min(d, std::max<Index>(256, 2 * k)), stream);
  const Index m = projection.m;
  std::vector<int> number(size_of(d), -1);
  for (std::size_t i = 0; i < words.size(); ++i) number[words[i]] = static_cast<int>(i);
  const auto rows = [&](const CoOccurrence& half) {
    Vec r(words.size() * size_of(m), 0.0);
    half.times(projection, number, r.data(), pool);
    for (std::size_t i = 0; i < words.size(); ++i)
      for (Index j = 0; j < m; ++j) r[i * size_of(m) + size_of(j)] /= half.mass[words[i]];
    return r;
  };
  std::vector<int> anchors;
  for (Index i : far_apart(rows(half_a), rows(half_b), m, k, clear, pool)) anchors.push_back(words[i]);
  k = static_cast<Index>(anchors.size());
  if (k == 0) return out;

  Vec basis = q.columns(anchors);
  for (Index v = 0; v < d; ++v)
    for (Index j = 0; j < k; ++j) basis[v * k + j] /= q.mass[anchors[j]];
  Vec gram(size_of(k * k), 0.0);
  kernels().add_product_tn(d, k, k, basis.data(), k, basis.data(), k, gram.data(), k);
  std::iota(number.begin(), number.end(), 0);
  Vec share(basis.size(), 0.0);
  q.times(DenseRows{basis, k}, number, share.data(), pool);
  for (Index v = 0; v < d; ++v)
    for (Index j = 0; j < k; ++j) share[v * k + j] /= q.mass[v] > 0 ? q.mass[v] : 1;
  least_squares_shares(share, gram, k, pool);

  Vec total(size_of(d), 0.0);
  for (std::size_t i = 0; i < documents.column.size(); ++i) total[documents.column[i]] += documents.value[i];
  out.k = k;
  out.t.assign(size_of(k * (d + 1)), 0.0);
  for (Index j = 0; j < k; ++j)
    for (Index v = 0; v < d; ++v)
      out.t[j * (d + 1)] += out.t[j * (d + 1) + 1 + v] = total[v] * share[v * k + j];
  out.word = std::move(anchors);
  return out;
}

PartialCounts all_counts(const Dataset& data) {
  PartialCounts out;
  out.row_start.assign(data.row_start, data.row_start + data.n + 1);
  out.column.assign(data.column, data.column + data.row_start[data.n]);
  out.value.assign(data.value, data.value + data.row_start[data.n]);
  out.square = out.value;
  return out;
}

}  // namespace bnpvi::topics
