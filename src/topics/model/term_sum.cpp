#include "topics/model/term_sum.h"

#include <algorithm>
#include <numeric>

#include "foundation/prefetch.h"
#include "kernels/kernels.h"

namespace bnpvi::topics {

namespace {

constexpr Index step = 32;  // terms a task: a guess

}  // namespace

TermSum::TermSum(const Dataset& data, const std::vector<Index>& units, Index from, Index to, Index k,
                 const DocumentTerms& terms)
    : terms_(terms), rest_(topic_shape(1, terms), k) {
  std::size_t n = 0;
  for (Index i = from; i < to; ++i)
    n += static_cast<std::size_t>(data.row_start[units[i] + 1] - data.row_start[units[i]]);
  share_.reserve(n);
  document_.reserve(static_cast<std::size_t>(to - from));
}

void TermSum::add(const DocumentView& view, Shares share, const DocumentFactors& factors) {
  const int document = static_cast<int>(document_.size());
  add_document(view, share, terms_, rest_, lengths_);
  rest_.scalar[TopicScalar::entropy] += view.times * factors.log_sum;
  for (const Share& s : share) rest_.edit_t(s.cluster)[0] += view.times * s.count;
  for (Index j = 0; j < factors.m; ++j)
    use_.push_back({view.times * factors.w[j], document, share[j].cluster, static_cast<int>(j)});
  const Index mask_words = factors.mask ? factors.mask_words : 0;
  document_.push_back({view.row, factors.n, share_.size(), mask_.size(), mask_words});
  share_.insert(share_.end(), factors.share, factors.share + factors.n);
  if (factors.mask) mask_.insert(mask_.end(), factors.mask, factors.mask + factors.n * mask_words);
  for (std::size_t i = 0; i < factors.apart.size(); ++i)
    for (Index j = 0; j < factors.m; ++j)
      apart_.push_back({view.row[factors.apart[i]], share[j].cluster,
                        view.times * factors.apart_mass[i * static_cast<std::size_t>(factors.m) + j]});
}

void TermSum::sort_uses() {
  first_use_.assign(static_cast<std::size_t>(rest_.k + 1), 0);
  for (const Use& use : use_) ++first_use_[use.topic + 1];
  std::partial_sum(first_use_.begin(), first_use_.end(), first_use_.begin());
  std::vector<std::size_t> next = first_use_;
  std::vector<Use> sorted(use_.size());
  for (const Use& use : use_) sorted[next[use.topic]++] = use;
  use_.swap(sorted);
}

// t_v += Σ_d w share_v over the documents that use the topic.
void TermSum::add_topic(Index topic, double* t) const {
  for (std::size_t i = first_use_[topic]; i < first_use_[topic + 1]; ++i) {
    const Use& use = use_[i];
    const Document& d = document_[use.document];
    const double* share = share_.data() + d.share;
    const double w = use.w;
    if (i + 1 < first_use_[topic + 1]) {
      const Document& next = document_[use_[i + 1].document];
      prefetch(share_.data() + next.share, static_cast<std::size_t>(next.n));
      prefetch(next.row, static_cast<std::size_t>(next.n));
    }
    if (d.mask_words == 0) {
      for (Index u = 0; u < d.n; ++u) t[d.row[u]] += w * share[u];
      continue;
    }
    const unsigned long long* mask = mask_.data() + d.mask + use.bit / 64;
    for (Index u = 0; u < d.n; ++u, mask += d.mask_words)
      t[d.row[u]] += static_cast<double>(*mask >> use.bit % 64 & 1) * (w * share[u]);
  }
}

Summary TermSum::finish(std::vector<TermSum>& parts, const TopicTable& table, Pool& pool) {
  const Index k = table.k, n_terms = static_cast<Index>(table.top.size()), p = n_terms + 1;
  const Index n_tasks = (n_terms + step - 1) / step;
  Summary out(topic_shape(p, parts.front().terms_), k, false);
  double* const all = out.edit_t(0);
  pool.run(static_cast<Index>(parts.size()), [&](Index part) { parts[part].sort_uses(); });
  pool.run(k, [&](Index topic) {
    Vec t(static_cast<std::size_t>(p), 0.0);
    for (const TermSum& part : parts) {
      t[0] += part.rest_.obs[static_cast<std::size_t>(topic)];
      part.add_topic(topic, t.data() + 1);
    }
    std::copy(t.begin(), t.end(), all + topic * p);
  });
  Vec energy(static_cast<std::size_t>(n_tasks), 0.0);  // Σ_vk T_vk (C_vk − max_k C_vk)
  pool.run(n_tasks, [&](Index task) {
    const Index from = task * step, n = std::min(step, n_terms - from);
    Buffer e(static_cast<std::size_t>(k * n));
    kernels().transpose_rows(n, k, table.e.data() + from * k, k, e.data(), n);
    energy[task] = kernels().scale_rows(k, n, e.data(), n, table.c.at + from, table.c.topic_step,
                                        table.top.data() + from, all + 1 + from, p);
  });
  for (double x : energy) out.entropy() -= x;
  for (TermSum& part : parts) {
    part.lengths_.finish(part.rest_.scalar);
    for (const Mass& m : part.apart_) {
      all[m.topic * p + 1 + m.term] += m.value;
      if (m.value > 0) out.entropy() -= m.value * (table.c(m.term, m.topic) - table.top[m.term]);
    }
    for (std::size_t i = 0; i < out.extra.size(); ++i) out.extra[i] += part.rest_.extra[i];
    for (std::size_t i = 0; i < out.pair.size(); ++i) out.pair[i] += part.rest_.pair[i];
    for (std::size_t i = 0; i < out.scalar.size(); ++i) out.scalar[i] += part.rest_.scalar[i];
  }
  return out;
}

}  // namespace bnpvi::topics
