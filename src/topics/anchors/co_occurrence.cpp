#include "topics/anchors/co_occurrence.h"

#include <numeric>

namespace bnpvi::topics {

namespace {

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

std::vector<Index> with_half(const std::vector<int>& half, int which) {
  std::vector<Index> out;
  for (std::size_t i = 0; i < half.size(); ++i)
    if (which < 0 || half[i] == which) out.push_back(static_cast<Index>(i));
  return out;
}

}  // namespace

PartialCounts counts_of_rows(const Dataset& data, const std::vector<Index>& rows) {
  PartialCounts out;
  for (Index row : rows) {
    const int from = data.row_start[row], to = data.row_start[row + 1];
    out.column.insert(out.column.end(), data.column + from, data.column + to);
    out.value.insert(out.value.end(), data.value + from, data.value + to);
    out.row_start.push_back(static_cast<int>(out.column.size()));
  }
  out.square = out.value;
  return out;
}

PartialCounts all_counts(const Dataset& data) {
  std::vector<Index> rows(size_of(data.n));
  std::iota(rows.begin(), rows.end(), Index{0});
  return counts_of_rows(data, rows);
}

void RowsOfWords::write(Writer& out) const {
  out.integer(m);
  out.integer(each);
  out.list(place);
  out.list(value);
}

RowsOfWords RowsOfWords::read(Reader& in) {
  RowsOfWords out;
  out.m = in.integer();
  out.each = in.integer();
  out.place = in.list<std::vector<int>>();
  out.value = in.list<Vec>();
  return out;
}

CoOccurrence::CoOccurrence(const PartialCounts& documents, std::vector<Index> which, Index d)
    : mass(size_of(d), 0.0), documents_(documents), which_(std::move(which)) {
  for (Index i : which_) {
    const Index from = documents.row_start[i], n = documents.row_start[i + 1] - from;
    const double* value = documents.value.data() + from;
    const double* square = documents.square.data() + from;
    const double tokens = std::accumulate(value, value + n, 0.0), weight = weight_of(i, tokens);
    for (Index u = 0; u < n; ++u)
      mass[documents.column[from + u]] += weight * (value[u] * tokens - square[u]);
  }
}

void CoOccurrence::times(const RowsOfWords& b, const std::vector<int>& number, double* out,
                         Pool& pool) const {
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
    kernels().scatter_sparse_rows(static_cast<Index>(to.size()), b.m, to.data(), scaled.data(), y.data(), out,
                                  b.m);
  }
}

Vec CoOccurrence::columns(const std::vector<int>& words) const {
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

// Documents are weighted by their numbers of tokens.
double CoOccurrence::weight_of(Index i, double tokens) const {
  const double pairs =
      tokens * tokens - std::accumulate(documents_.square.begin() + documents_.row_start[i],
                                        documents_.square.begin() + documents_.row_start[i + 1], 0.0);
  return pairs > 0.5 ? tokens / pairs : 0;
}

SumsOfCounts::SumsOfCounts(const PartialCounts& documents, const std::vector<int>& half, Index d, Pool& pool)
    : documents_(documents),
      d_(d),
      pool_(pool),
      all_(documents, with_half(half, -1), d),
      half_a_(documents, with_half(half, 0), d),
      half_b_(documents, with_half(half, 1), d) {}

DocumentSums::Counts SumsOfCounts::counts() {
  Counts out{documents_.n(), Vec(size_of(d_), 0.0), Vec(size_of(d_), 0.0),
             all_.mass,      half_a_.mass,          half_b_.mass};
  for (std::size_t i = 0; i < documents_.column.size(); ++i) {
    out.tokens[documents_.column[i]] += documents_.value[i];
    if (documents_.value[i] > 0.5) ++out.users[documents_.column[i]];
  }
  return out;
}

Vec SumsOfCounts::times_by_half(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) {
  Vec out(size_of(2 * n_numbers * b.m), 0.0);
  half_a_.times(b, number, out.data(), pool_);
  half_b_.times(b, number, out.data() + n_numbers * b.m, pool_);
  return out;
}

Vec SumsOfCounts::times(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) {
  Vec out(size_of(n_numbers * b.m), 0.0);
  all_.times(b, number, out.data(), pool_);
  return out;
}

}  // namespace bnpvi::topics
