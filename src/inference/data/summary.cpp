#include "inference/data/summary.h"

#include <algorithm>
#include <numeric>

namespace bnpvi {

namespace {

constexpr Vec Summary::*further_numbers[] = {&Summary::extra, &Summary::pair, &Summary::scalar};

template <class Numbers>
void erase_row(Numbers& m, Index width, Index row) {
  m.erase(m.begin() + row * width, m.begin() + (row + 1) * width);
}

template <class Numbers>
void add_row(Numbers& m, Index width, Index to, Index from) {
  for (Index i = 0; i < width; ++i) m[to * width + i] += m[from * width + i];
}

template <class Numbers>
Numbers permuted_rows(const typename Numbers::value_type* m, Index width, const std::vector<Index>& order) {
  Numbers out(order.size() * static_cast<std::size_t>(width));
  for (std::size_t j = 0; j < order.size(); ++j)
    std::copy_n(m + order[j] * width, width, out.begin() + static_cast<Index>(j) * width);
  return out;
}

}  // namespace

std::vector<Index> numbers_without(Index k, Index j) {
  std::vector<Index> number(static_cast<std::size_t>(k));
  for (Index i = 0; i < k; ++i) number[i] = i < j ? i : i - 1;
  number[j] = -1;
  return number;
}

Summary::Summary(const SummaryShape& s, Index clusters, bool zeros) : shape(s), k(clusters) {
  Buffer& t = obs.edit();
  t.resize(static_cast<std::size_t>(k * s.p));
  if (zeros) std::fill(t.begin(), t.end(), 0.0);
  extra.assign(static_cast<std::size_t>(k * s.q), 0.0);
  pair.assign(static_cast<std::size_t>(k * k * s.pairs), 0.0);
  scalar.assign(static_cast<std::size_t>(s.scalars), 0.0);
}

Vec Summary::sizes() const {
  Vec n(static_cast<std::size_t>(k));
  for (Index j = 0; j < k; ++j) n[j] = size(j);
  return n;
}

std::vector<Index> Summary::by_size() const {
  std::vector<Index> order(static_cast<std::size_t>(k));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [this](Index a, Index b) { return size(a) > size(b); });
  return order;
}

bool Summary::is_last_of_class(Index j) const {
  return names.of_cluster(j) > 0 ||
         (owner_of(j) > 0 && std::count(owner.begin(), owner.end(), owner_of(j)) == 1);
}

bool Summary::may_join(Index a, Index b) const {
  if (!names.at_most_one({a, b})) return false;
  const auto is_open = [this](Index j) { return owner_of(j) == 0 && names.of_cluster(j) == 0; };
  return owner_of(a) == owner_of(b) || is_open(a) || is_open(b);
}

void Summary::add(const Summary& other, double c) {
  const auto axpy = [c](const double* from, auto& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += c * from[i];
  };
  axpy(other.obs.data(), obs.edit());
  for (const auto numbers : further_numbers) axpy((other.*numbers).data(), this->*numbers);
  log_base += c * other.log_base;
}

void Summary::exchange(const Summary& old, const Summary& fresh, Pool* pool) {
  for (const auto numbers : further_numbers) {
    Vec& to = this->*numbers;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = to[i] - (old.*numbers)[i] + (fresh.*numbers)[i];
  }
  log_base = log_base - old.log_base + fresh.log_base;
  Buffer now(obs.size());
  const double *t = obs.data(), *out = old.obs.data(), *in = fresh.obs.data();
  for_each_stretch(pool, static_cast<Index>(now.size()), [&](Index from, Index end) {
    for (Index i = from; i < end; ++i) now[i] = t[i] - out[i] + in[i];
  });
  obs = std::move(now);
}

void Summary::set_to_sum(const std::vector<const Summary*>& parts, Pool* pool) {
  *this = *parts.front();
  memory = nullptr;
  settled = false;
  if (parts.size() == 1) return;
  for (std::size_t b = 1; b < parts.size(); ++b) {
    for (const auto numbers : further_numbers)
      for (std::size_t i = 0; i < (this->*numbers).size(); ++i)
        (this->*numbers)[i] += (parts[b]->*numbers)[i];
    log_base += parts[b]->log_base;
  }
  Buffer sum(obs.size());
  for_each_stretch(pool, static_cast<Index>(sum.size()), [&](Index from, Index end) {
    std::copy(obs.begin() + from, obs.begin() + end, sum.begin() + from);
    for (std::size_t b = 1; b < parts.size(); ++b) {
      const double* t = parts[b]->obs.data();
      for (Index i = from; i < end; ++i) sum[i] += t[i];
    }
  });
  obs = std::move(sum);
}

void Summary::scale(double c) {
  for (double& x : obs.edit()) x *= c;
  for (const auto numbers : further_numbers)
    for (double& x : this->*numbers) x *= c;
  log_base *= c;
}

void Summary::merge(Index a, Index b) {
  add_row(obs.edit(), shape.p, a, b);
  add_row(extra, shape.q, a, b);
  add_row(pair, k * shape.pairs, a, b);
  for (Index i = 0; i < k; ++i) add_row(pair, shape.pairs, i * k + a, i * k + b);
  if (!owner.empty() && owner[a] == 0) owner[a] = owner[b];
  if (names.any()) names.of[a] = names.of_pair(a, b);
  if (memory) {
    std::vector<Index> number = numbers_without(k, b);
    number[b] = a;
    memory = std::make_shared<const UnitMemory>(memory->renumbered(number));
  }
  drop_statistics(b);
}

void Summary::drop(Index j) {
  if (memory) memory = std::make_shared<const UnitMemory>(memory->renumbered(numbers_without(k, j)));
  drop_statistics(j);
}

void Summary::drop_statistics(Index j) {
  names.drop(j);
  if (!owner.empty()) owner.erase(owner.begin() + j);
  erase_row(obs.edit(), shape.p, j);
  erase_row(extra, shape.q, j);
  erase_row(pair, k * shape.pairs, j);
  for (Index i = k - 1; i-- > 0;) erase_row(pair, shape.pairs, i * k + j);
  --k;
}

void Summary::append(Index m, int owned_by) {
  names.append(m);
  if (!owner.empty()) owner.resize(static_cast<std::size_t>(k + m), owned_by);
  Buffer more(static_cast<std::size_t>((k + m) * shape.p));
  std::fill(std::copy(obs.begin(), obs.end(), more.begin()), more.end(), 0.0);
  obs = std::move(more);
  extra.resize(static_cast<std::size_t>((k + m) * shape.q), 0.0);
  Vec out(static_cast<std::size_t>((k + m) * (k + m) * shape.pairs), 0.0);
  const Index width = k * shape.pairs, wider = (k + m) * shape.pairs;
  for (Index i = 0; i < k; ++i) std::copy_n(pair.begin() + i * width, width, out.begin() + i * wider);
  pair.swap(out);
  k += m;
}

void Summary::permute(const std::vector<Index>& order) {
  if (memory) {
    std::vector<Index> number(order.size());
    for (std::size_t j = 0; j < order.size(); ++j) number[order[j]] = static_cast<Index>(j);
    memory = std::make_shared<const UnitMemory>(memory->renumbered(number));
  }
  names.permute(order);
  if (!owner.empty()) owner = permuted_rows<std::vector<int>>(owner.data(), 1, order);
  obs = permuted_rows<Buffer>(obs.data(), shape.p, order);
  extra = permuted_rows<Vec>(extra.data(), shape.q, order);
  pair = permuted_rows<Vec>(pair.data(), k * shape.pairs, order);
  for (Index i = 0; i < k; ++i) {
    const Vec row = permuted_rows<Vec>(pair.data() + i * k * shape.pairs, shape.pairs, order);
    std::copy(row.begin(), row.end(), pair.begin() + i * k * shape.pairs);
  }
}

void Summary::write(Writer& out, bool weights) const {
  out.list(&shape, 1);
  out.integer(k);
  out.list(obs.data(), obs.size());
  for (const auto numbers : further_numbers) out.list(this->*numbers);
  out.number(log_base);
  out.list(owner);
  out.list(names.of);
  out.flag(settled);
  out.flag(memory != nullptr);
  if (memory) memory->write(out, weights);
}

Summary Summary::read(Reader& in, const std::shared_ptr<const Weights>& weights) {
  Summary out;
  out.shape = in.list<std::vector<SummaryShape>>().at(0);
  out.k = in.integer();
  out.obs = SharedVec(in.list<Buffer>());
  for (const auto numbers : further_numbers) out.*numbers = in.list<Vec>();
  out.log_base = in.number();
  out.owner = in.list<std::vector<int>>();
  out.names.of = in.list<std::vector<int>>();
  out.settled = in.flag();
  if (in.flag()) out.memory = std::make_shared<const UnitMemory>(UnitMemory::read(in, weights));
  return out;
}

}  // namespace bnpvi
