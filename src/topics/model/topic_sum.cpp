#include "topics/model/topic_sum.h"

#include <algorithm>

#include "foundation/special.h"
#include "kernels/kernels.h"

namespace bnpvi::topics {

SummaryShape topic_shape(Index p, const DocumentTerms& terms) {
  const ResponseModel* response = terms.response;
  return {p, TopicExtra::size_of(terms.patterns), response ? response->n_pairs() : 0,
          TopicScalar::size + 2 * terms.patterns + (response ? response->n_scalars() : 0)};
}

void add_tangents(Shares share, double times, double* extra, Index pattern, Index patterns) {
  const Index width = TopicExtra::size_of(patterns);
  constexpr std::size_t step = 16;  // shares that one call of a kernel takes: a guess
  double theta[step], slope[step], value[step];
  for (std::size_t from = 0; from < share.size(); from += step) {
    const std::size_t n = std::min(step, share.size() - from);
    for (std::size_t j = 0; j < n; ++j) theta[j] = share[from + j].theta;
    kernels().digamma_each(static_cast<Index>(n), theta, slope);
    kernels().log_gamma_each(static_cast<Index>(n), theta, value);
    for (std::size_t j = 0; j < n; ++j) {
      const Share& s = share[from + j];
      double* to = extra + s.cluster * width;
      to[TopicExtra::users_of(pattern)] += times;
      to[TopicExtra::slope_of(pattern)] += times * slope[j];
      to[width - 1] += times * (value[j] + (s.count - s.theta) * slope[j]);
    }
  }
}

void LengthSum::add(double length, double times, Index pattern, double all, Vec& scalar) {
  if (length < all) {  // digits would be lost by subtracting
    const double slope = digamma_difference(all, length);
    scalar[TopicScalar::slope_of(pattern)] += times * slope;
    scalar[TopicScalar::lengths] += times * (log_gamma_difference(all, length) - all * slope);
    return;
  }
  at_[2 * n_] = all;
  at_[2 * n_ + 1] = all + length;
  times_[n_] = times;
  pattern_[n_] = pattern;
  if (++n_ == most) finish(scalar);
}

void LengthSum::finish(Vec& scalar) {
  double digammas[2 * most], log_gammas[2 * most];
  kernels().digamma_each(static_cast<Index>(2 * n_), at_, digammas);
  kernels().log_gamma_each(static_cast<Index>(2 * n_), at_, log_gammas);
  for (std::size_t i = 0; i < n_; ++i) {
    const double slope = digammas[2 * i] - digammas[2 * i + 1],
                 value = log_gammas[2 * i] - log_gammas[2 * i + 1];
    scalar[TopicScalar::slope_of(pattern_[i])] += times_[i] * slope;
    scalar[TopicScalar::lengths] += times_[i] * (value - at_[2 * i] * slope);
  }
  n_ = 0;
}

void add_document(const DocumentView& view, Shares share, const DocumentTerms& terms, Summary& to,
                  LengthSum& lengths) {
  to.scalar[TopicScalar::documents] += view.times;
  if (terms.patterns == 0) {
    to.scalar[TopicScalar::lengths] -= view.times * log_gamma(view.length + terms.alpha);
    add_tangents(share, view.times, to.extra.data());
  } else {
    const Index pattern = view.response ? static_cast<Index>(view.response[0]) : 0;
    to.scalar[TopicScalar::documents_of(pattern)] += view.times;
    if (view.local) lengths.add(view.length, view.times, pattern, view.local[PatternLocal::all], to.scalar);
    add_tangents(share, view.times, to.extra.data(), pattern, terms.patterns);
  }
  if (terms.response) terms.response->add(view.response, view.local, view.length, view.times, share, to);
}

TopicSum::TopicSum(const ObsModel& obs, const DataShape& data, Index k, Index width,
                   const DocumentTerms& terms)
    : k_(k),
      n_terms_(obs.n_features() - 1),
      width_(width),
      terms_(terms),
      by_term_(rows_are_documents(obs, data)),
      expects_(obs.capabilities().cells != nullptr),
      at_visit_(static_cast<std::size_t>(expects_ ? k : 0)),
      rest_(topic_shape(1, terms), k),
      sum_(obs, data, by_term_ ? 0 : k),
      by_topic_(static_cast<std::size_t>(by_term_ ? k : 0)) {}

const Vec& TopicSum::add(DocumentReader& reader, const DocumentView& view, Shares share) {
  double entropy = 0;
  document_responsibilities(view, share, width_, r_, entropy);
  rest_.scalar[TopicScalar::entropy] += view.times * entropy;
  add_document(view, share, terms_, rest_, lengths_);
  if (!share.empty()) add_statistics(reader, view, share);
  return r_;
}

void TopicSum::add_statistics(DocumentReader& reader, const DocumentView& view, Shares share) {
  const Index m = static_cast<Index>(share.size());
  if (by_term_) {
    for (Index j = 0; j < m; ++j) {
      Vec& t = by_topic_[share[j].cluster];
      t.resize(static_cast<std::size_t>(n_terms_));
      for (Index u = 0; u < view.n; ++u) t[view.row[u]] += view.times * view.weight[u] * r_[u * m + j];
      rest_.edit_t(share[j].cluster)[0] += view.times * share[j].count;
    }
    return;
  }
  if (expects_ && view.weights) {
    for (const Share& s : share) at_visit_[s.cluster] = s.column;
    sum_.expect_under(*view.weights, &at_visit_);
  }
  FeatureBlock& block = reader.block();
  const std::vector<Index>& rows = reader.rows();
  Responsibilities r;
  r.k = r.width = k_;
  for (Index from = 0; from < view.n; from += block.block_rows()) {
    r.n = std::min(block.block_rows(), view.n - from);
    r.value.assign(static_cast<std::size_t>(r.n * k_), 0.0);
    for (Index i = 0; i < r.n; ++i)
      for (Index j = 0; j < m; ++j) r.value[i * k_ + share[j].cluster] = view.times * r_[(from + i) * m + j];
    block.load(rows.data() + from, r.n);
    block.add_weighted(r, sum_);
  }
}

void TopicSum::finish(Summary& out, double times) {
  lengths_.finish(rest_.scalar);
  const auto add = [times](const auto& from, double* to) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += times * from[i];
  };
  double* t = out.edit_t(0);
  if (by_term_) {
    for (Index j = 0; j < k_; ++j) {
      t[j * (1 + n_terms_)] += times * rest_.obs[j];
      add(by_topic_[j], t + j * (1 + n_terms_) + 1);
    }
  } else {
    Vec sum(out.obs.size(), 0.0);
    sum_.finish(sum.data());
    add(sum, t);
  }
  add(rest_.extra, out.extra.data());
  add(rest_.pair, out.pair.data());
  add(rest_.scalar, out.scalar.data());
}

}  // namespace bnpvi::topics
