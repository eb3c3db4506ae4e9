#include "summary.h"

#include <algorithm>

namespace bnpvi {

namespace {

constexpr Vec Summary::*all_numbers[] = {&Summary::obs, &Summary::extra, &Summary::pair, &Summary::scalar};

void erase_row(Vec& m, Index width, Index row) {
  m.erase(m.begin() + row * width, m.begin() + (row + 1) * width);
}

void add_row(Vec& m, Index width, Index to, Index from) {
  for (Index i = 0; i < width; ++i) m[to * width + i] += m[from * width + i];
}

void permute_rows(Vec& m, Index width, const std::vector<Index>& order) {
  Vec out(m.size());
  for (std::size_t j = 0; j < order.size(); ++j)
    std::copy_n(m.begin() + order[j] * width, width, out.begin() + static_cast<Index>(j) * width);
  m.swap(out);
}

}  // namespace

std::vector<Index> numbers_without(Index k, Index j) {
  std::vector<Index> number(static_cast<std::size_t>(k));
  for (Index i = 0; i < k; ++i) number[i] = i < j ? i : i - 1;
  number[j] = -1;
  return number;
}

Summary::Summary(const SummaryShape& s, Index clusters) : shape(s), k(clusters) {
  obs.assign(static_cast<std::size_t>(k * s.p), 0.0);
  extra.assign(static_cast<std::size_t>(k * s.q), 0.0);
  pair.assign(static_cast<std::size_t>(s.pairs ? k * k : 0), 0.0);
  scalar.assign(static_cast<std::size_t>(s.scalars), 0.0);
}

Vec Summary::sizes() const {
  Vec n(static_cast<std::size_t>(k));
  for (Index j = 0; j < k; ++j) n[j] = size(j);
  return n;
}

void Summary::add(const Summary& other, double c) {
  for (const auto numbers : all_numbers) {
    const Vec& from = other.*numbers;
    Vec& to = this->*numbers;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += c * from[i];
  }
}

void Summary::exchange(const Summary& old, const Summary& fresh, Pool* pool) {
  for (const auto numbers : all_numbers) {
    const double *out = (old.*numbers).data(), *in = (fresh.*numbers).data();
    Vec& to = this->*numbers;
    for_each_stretch(pool, static_cast<Index>(to.size()), [&](Index from, Index end) {
      for (Index i = from; i < end; ++i) to[i] = to[i] - out[i] + in[i];
    });
  }
}

void Summary::set_to_sum(const std::vector<const Summary*>& parts, Pool* pool) {
  const Summary& first = *parts.front();
  shape = first.shape;
  k = first.k;
  memory = nullptr;
  for (const auto numbers : all_numbers) {
    Vec& to = this->*numbers;
    to.resize((first.*numbers).size());
    for_each_stretch(pool, static_cast<Index>(to.size()), [&](Index from, Index end) {
      std::copy((first.*numbers).begin() + from, (first.*numbers).begin() + end, to.begin() + from);
      for (std::size_t b = 1; b < parts.size(); ++b)
        for (Index i = from; i < end; ++i) to[i] += (parts[b]->*numbers)[i];
    });
  }
}

void Summary::scale(double c) {
  for (const auto numbers : all_numbers)
    for (double& x : this->*numbers) x *= c;
}

void Summary::merge(Index a, Index b) {
  add_row(obs, shape.p, a, b);
  add_row(extra, shape.q, a, b);
  if (shape.pairs) {
    add_row(pair, k, a, b);
    for (Index i = 0; i < k; ++i) pair[i * k + a] += pair[i * k + b];
  }
  if (memory) {
    std::vector<Index> number = numbers_without(k, b);
    number[b] = a;
    memory = memory->renumbered(number);
  }
  drop_statistics(b);
}

void Summary::drop(Index j) {
  if (memory) memory = memory->renumbered(numbers_without(k, j));
  drop_statistics(j);
}

void Summary::drop_statistics(Index j) {
  erase_row(obs, shape.p, j);
  erase_row(extra, shape.q, j);
  if (shape.pairs) {
    erase_row(pair, k, j);
    Vec out;
    out.reserve(static_cast<std::size_t>((k - 1) * (k - 1)));
    for (Index i = 0; i < k - 1; ++i)
      for (Index l = 0; l < k; ++l)
        if (l != j) out.push_back(pair[i * k + l]);
    pair.swap(out);
  }
  --k;
}

void Summary::append(Index m) {
  obs.resize(static_cast<std::size_t>((k + m) * shape.p), 0.0);
  extra.resize(static_cast<std::size_t>((k + m) * shape.q), 0.0);
  if (shape.pairs) {
    Vec out(static_cast<std::size_t>((k + m) * (k + m)), 0.0);
    for (Index i = 0; i < k; ++i) std::copy_n(pair.begin() + i * k, k, out.begin() + i * (k + m));
    pair.swap(out);
  }
  k += m;
}

void Summary::permute(const std::vector<Index>& order) {
  if (memory) {
    std::vector<Index> number(order.size());
    for (std::size_t j = 0; j < order.size(); ++j) number[order[j]] = static_cast<Index>(j);
    memory = memory->renumbered(number);
  }
  permute_rows(obs, shape.p, order);
  permute_rows(extra, shape.q, order);
  if (shape.pairs) {
    permute_rows(pair, k, order);
    for (Index i = 0; i < k; ++i) {
      const Vec row(pair.begin() + i * k, pair.begin() + (i + 1) * k);
      for (Index l = 0; l < k; ++l) pair[i * k + l] = row[order[l]];
    }
  }
}

}  // namespace bnpvi
