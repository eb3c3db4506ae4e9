#include "observations/keyword_terms.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "kernels/kernels.h"
#include "observations/capabilities.h"

namespace bnpvi {

namespace {

constexpr double a = 1;      // of p ~ Beta(a, b)
constexpr double inner = 1;  // prior weight of each keyword within S

double count(const double* t, Index v) { return std::max(t[1 + v], 0.0); }
double log_rising(double x, double n) { return n > 0 ? -log_gamma_difference(x, n) : 0; }

}  // namespace

KeywordTerms::KeywordTerms(const ObsModel& plain, TermPrior prior, std::vector<int> terms,
                           double weight_of_others)
    : plain_(plain),
      prior_(prior),
      terms_(std::move(terms)),
      b_(weight_of_others),
      keywords_(inner * static_cast<double>(terms_.size())) {
  for (int v : terms_) {
    sum_ += prior_.weight[v];
    mean_sum_ += prior_.mean[v];
  }
}

Capabilities KeywordTerms::capabilities() const {
  Capabilities out;
  out.linear = true;
  out.tokens = plain_.capabilities().tokens;
  return out;
}

double KeywordTerms::tokens(const double* t) const { return kernels().positive_sum(n_columns(), t + 1); }

double KeywordTerms::keyword_tokens(const double* t) const {
  double sum = 0;
  for (int v : terms_) sum += count(t, v);
  return sum;
}

double KeywordTerms::gain(const double* t, double tokens) const {
  const double n = keyword_tokens(t), m = std::max(tokens - n, 0.0), rest = prior_.total - sum_;
  double out = log_beta(a + n, b_ + m) - log_beta(a, b_) - log_beta(sum_ + n, rest + m) +
               log_beta(sum_, rest) - log_rising(keywords_, n) + log_rising(sum_, n);
  for (int v : terms_) out += log_rising(inner, count(t, v)) - log_rising(prior_.weight[v], count(t, v));
  return out;
}

double KeywordTerms::log_evidence(const double* t) const {
  return plain_.log_evidence(t) + gain(t, tokens(t));
}

void KeywordTerms::add_weights(const double* t, double* w) const {
  const double all = tokens(t), n = keyword_tokens(t), m = std::max(all - n, 0.0);
  const double share = digamma(a + b_ + all);
  const double outside =
      digamma(prior_.total + all) + digamma(b_ + m) - share - digamma(prior_.total - sum_ + m);
  for (Index v = 0; v < n_columns(); ++v) w[1 + v] += outside;
  const double inside = digamma(a + n) - share - digamma(keywords_ + n);
  for (int v : terms_) w[1 + v] = inside + digamma(inner + count(t, v));
}

void KeywordTerms::weights(const double* t, double* w) const {
  plain_.weights(t, w);
  add_weights(t, w);
}

double KeywordTerms::evidence_and_weights(const double* t, double* w) const {
  const double plain = plain_.evidence_and_weights(t, w);
  add_weights(t, w);
  return plain + gain(t, tokens(t));
}

Vec KeywordTerms::concentration(const double* t) const {
  Vec out = prior_.mean;
  for (int v : terms_) out[v] = inner;
  for (Index v = 0; v < n_columns(); ++v) out[v] += count(t, v);
  return out;
}

Vec KeywordTerms::mean_shares(const double* t) const {
  const double all = tokens(t), n = keyword_tokens(t), m = std::max(all - n, 0.0);
  const double inside = (a + n) / (a + b_ + all) / (keywords_ + n);
  const double outside = (b_ + m) / (a + b_ + all) / (prior_.total - mean_sum_ + m);
  Vec out = concentration(t);
  for (double& x : out) x *= outside;
  for (int v : terms_) out[v] = inside * (inner + count(t, v));
  return out;
}

void KeywordTerms::point_estimate(const double* t, double* mean, double* w) const {
  const double length = t[0] > 0 ? tokens(t) / t[0] : 0;
  const Vec share = mean_shares(t);
  mean[0] = 1;
  w[0] = 0;
  for (std::size_t v = 0; v < share.size(); ++v) {
    mean[1 + v] = length * share[v];
    w[1 + v] = std::log(share[v]);
  }
}

void KeywordTerms::draw(const double* t, Stream& stream, double* w) const {
  const double n = keyword_tokens(t), m = std::max(tokens(t) - n, 0.0);
  const Vec share = draw_log_dirichlet({a + n, b_ + m}, stream), all = concentration(t);
  Vec within, outside;
  std::vector<int> others;
  for (int v : terms_) within.push_back(all[v]);
  for (Index v = 0; v < n_columns(); ++v) {
    if (std::binary_search(terms_.begin(), terms_.end(), static_cast<int>(v))) continue;
    others.push_back(static_cast<int>(v));
    outside.push_back(all[v]);
  }
  const Vec log_within = draw_log_dirichlet(within, stream),
            log_outside = draw_log_dirichlet(outside, stream);
  w[0] = 0;
  for (std::size_t i = 0; i < terms_.size(); ++i) w[1 + terms_[i]] = share[0] + log_within[i];
  for (std::size_t i = 0; i < others.size(); ++i) w[1 + others[i]] = share[1] + log_outside[i];
}

// The density of a row's tokens in their given order.
void KeywordTerms::log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const {
  const Vec all = concentration(t);
  const double inside = keyword_tokens(t), outside = std::max(tokens(t) - inside, 0.0);
  for (Index i = 0; i < n; ++i) {
    const double* x = phi + i * ld;
    const double in = keyword_tokens(x), row = tokens(x), rest = std::max(row - in, 0.0);
    double sum = log_rising(a + inside, in) + log_rising(b_ + outside, rest) -
                 log_rising(a + b_ + inside + outside, row) - log_rising(keywords_ + inside, in) -
                 log_rising(prior_.total - mean_sum_ + outside, rest);
    for (Index v = 0; v < n_columns(); ++v)
      if (x[1 + v] > 0) sum += log_rising(all[v], x[1 + v]);
    out[i] = sum;
  }
}

namespace {

template <class Row>
NamedArrays array_of_rows(const char* name, Index k, Index d, Row row) {
  NamedArray out{name, Vec(static_cast<std::size_t>(k * d)), {k, d}};
  for (Index i = 0; i < k; ++i) {
    const Vec own = row(i);
    for (Index v = 0; v < d; ++v) out.value[i + k * v] = own[v];
  }
  return {std::move(out)};
}

}  // namespace

NamedArrays KeywordTerms::posterior(const double* t, Index k) const {
  return array_of_rows("concentration", k, n_columns(), [&](Index i) {
    const double* own = t + i * n_features();
    Vec out = mean_shares(own);
    for (double& x : out) x *= prior_.total + tokens(own);
    return out;
  });
}

NamedArrays KeywordTerms::mean_parameters(const double* t, Index k) const {
  return array_of_rows("prob", k, n_columns(), [&](Index i) { return mean_shares(t + i * n_features()); });
}

}  // namespace bnpvi
