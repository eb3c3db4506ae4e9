#include "term_sum.h"

#include <algorithm>

#include "kernels.h"

namespace bnpvi {

namespace {

constexpr Index step = 32;  // terms a task

inline int lowest_bit(unsigned long long bits) {
#if defined(__GNUC__)
  return __builtin_ctzll(bits);
#else
  int at = 0;
  for (; (bits & 1) == 0; bits >>= 1) ++at;
  return at;
#endif
}

}  // namespace

TermSum::TermSum(const Dataset& data, const std::vector<Index>& units, Index from, Index to, Index k,
                 double alpha)
    : k_(k), alpha_(alpha), rest_(without_features(), k), start_(static_cast<std::size_t>(data.d + 1), 0) {
  for (Index i = from; i < to; ++i)
    for (int e = data.row_start[units[i]]; e < data.row_start[units[i] + 1]; ++e)
      ++start_[data.column[e] + 1];
  for (Index v = 0; v < data.d; ++v) start_[v + 1] += start_[v];
  next_.assign(start_.begin(), start_.end() - 1);
  token_.resize(static_cast<std::size_t>(start_.back()));
}

void TermSum::add(const DocumentView& view, const std::vector<TopicShare>& share,
                  const DocumentFactors& factors) {
  const int document = static_cast<int>(first_use_.size()) - 1;
  add_document(view, share, alpha_, 1, rest_);
  rest_.scalar[TopicScalar::entropy] += factors.log_sum;
  for (const TopicShare& s : share) rest_.obs[s.topic] += s.count;
  for (Index j = 0; j < factors.m; ++j) use_.push_back({factors.w[j], share[j].topic});
  first_use_.push_back(static_cast<int>(use_.size()));
  int mask = -1;
  if (factors.mask) {
    mask = static_cast<int>(mask_.size());
    mask_.insert(mask_.end(), factors.mask, factors.mask + factors.n * factors.mask_words);
  }
  for (Index u = 0; u < factors.n; ++u) {
    token_[next_[view.row[u]]++] = {factors.share[u], document, mask};
    if (factors.mask) mask += static_cast<int>(factors.mask_words);
  }
  for (std::size_t i = 0; i < factors.apart.size(); ++i)
    for (Index j = 0; j < factors.m; ++j)
      apart_.push_back({view.row[factors.apart[i]], share[j].topic,
                        factors.apart_mass[i * static_cast<std::size_t>(factors.m) + j]});
}

// sum (terms × k) += Σ_d share w over the tokens of some terms.
void TermSum::add_terms(Index from, Index to, double* sum) const {
  const Use* uses = use_.data();
  for (Index v = from; v < to; ++v, sum += k_)
    for (int i = start_[v]; i < start_[v + 1]; ++i) {
      const Token& token = token_[i];
      const Use *use = uses + first_use_[token.document], *end = uses + first_use_[token.document + 1];
      if (token.mask < 0) {
        for (; use != end; ++use) sum[use->topic] += token.share * use->w;
        continue;
      }
      for (const unsigned long long* mask = mask_.data() + token.mask; use < end; use += 64, ++mask)
        for (unsigned long long bits = *mask; bits != 0; bits &= bits - 1) {
          const Use& chosen = use[lowest_bit(bits)];
          sum[chosen.topic] += token.share * chosen.w;
        }
    }
}

// Adds to sum as well, and returns Σ T (C − max C) of what it added.
double TermSum::add_apart(Index from, Index to, const TopicTable& table, double* sum) const {
  double energy = 0;
  auto at =
      std::lower_bound(apart_.begin(), apart_.end(), from, [](const Mass& m, Index v) { return m.term < v; });
  for (; at != apart_.end() && at->term < to; ++at) {
    sum[(at->term - from) * k_ + at->topic] += at->value;
    if (at->value > 0) energy += at->value * (table.c[at->term * k_ + at->topic] - table.top[at->term]);
  }
  return energy;
}

void TermSum::finish(std::vector<TermSum>& parts, const TopicTable& table, Pool& pool, Summary& out) {
  const Index k = out.k, p = out.shape.p, n_terms = p - 1, n_tasks = (n_terms + step - 1) / step;
  for (TermSum& part : parts)
    std::stable_sort(part.apart_.begin(), part.apart_.end(),
                     [](const Mass& a, const Mass& b) { return a.term < b.term; });
  Vec energy(static_cast<std::size_t>(n_tasks), 0.0);  // Σ_vk T_vk (C_vk − max_k C_vk)
  pool.run(n_tasks, [&](Index task) {
    const Index from = task * step, to = std::min(n_terms, from + step);
    Vec sum(static_cast<std::size_t>((to - from) * k), 0.0);
    for (const TermSum& part : parts) part.add_terms(from, to, sum.data());
    energy[task] = kernels().scale_rows(to - from, k, table.e.data() + from * k, table.c + from * k,
                                        table.top.data() + from, sum.data());
    for (const TermSum& part : parts) energy[task] += part.add_apart(from, to, table, sum.data());
    for (Index j = 0; j < k; ++j)
      for (Index v = from; v < to; ++v) out.t(j)[1 + v] += sum[(v - from) * k + j];
  });
  for (const TermSum& part : parts) {
    for (Index j = 0; j < k; ++j) out.t(j)[0] += part.rest_.obs[j];
    for (std::size_t i = 0; i < out.extra.size(); ++i) out.extra[i] += part.rest_.extra[i];
    for (std::size_t i = 0; i < out.scalar.size(); ++i) out.scalar[i] += part.rest_.scalar[i];
  }
  for (double x : energy) out.entropy() -= x;
}

}  // namespace bnpvi
