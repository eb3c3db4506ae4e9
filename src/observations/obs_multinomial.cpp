#include <algorithm>
#include <cmath>
#include <utility>

#include "foundation/log_product.h"
#include "foundation/special.h"
#include "foundation/variates.h"
#include "kernels/kernels.h"
#include "observations/capabilities.h"
#include "observations/counts_of_terms.h"
#include "observations/dirichlet_array.h"
#include "observations/few_counts.h"
#include "observations/gather.h"
#include "observations/hierarchical_dirichlet.h"
#include "observations/keyword_terms.h"
#include "observations/named_clusters.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

// log Γ(a + x) − log Γ(a). For small whole x, a sum of logarithms is as accurate and faster.
double log_rising(double a, double x) {
  if (x == 0) return 0;
  if (x > 32 || x != std::floor(x)) return -log_gamma_difference(a, x);
  double sum = 0;
  for (double i = 0; i < x; ++i) sum += std::log(a + i);
  return sum;
}

HierarchicalDirichlet hierarchy_of(Index terms) { return {{terms}, {-2, 13}, {-12, 3}}; }

// φ = (1, counts); prior Dirichlet(λ) over D terms, given or hierarchical. If it is hierarchical, Λ and its
// gradient use λ and its total, while predictions and draws use the mean weights (hierarchical_dirichlet.h).
// Clusters may be named by keywords (keyword_terms.h).
class Multinomial final : public ObsModel,
                          public TokenCounts,
                          public LearnedPrior,
                          public Urn,
                          public NamedClusters {
 public:
  Multinomial(Vec weight, Keywords keywords)
      : d_(static_cast<Index>(weight.size())),
        weight_(std::move(weight)),
        mean_weight_(weight_),
        keywords_(std::move(keywords)) {
    for (double a : weight_) total_ += a;
    prepare();
  }
  Multinomial(SharePosterior q, Keywords keywords)
      : d_(static_cast<Index>(q.omega.size())),
        posterior_(std::move(q)),
        learned_(true),
        keywords_(std::move(keywords)) {
    const HierarchicalDirichlet hierarchy = hierarchy_of(d_);
    weight_ = hierarchy.weights(posterior_);
    mean_weight_ = hierarchy.mean_weights(posterior_);
    total_ = hierarchy.total(posterior_, 0);
    log_density_ = hierarchy.log_density(posterior_);
    prepare();
  }

  // weight: λ; total: at least their sum.
  Multinomial(Vec weight, double total, Keywords keywords)
      : d_(static_cast<Index>(weight.size())),
        weight_(std::move(weight)),
        mean_weight_(weight_),
        total_(total),
        keywords_(std::move(keywords)) {
    prepare();
  }

  Index n_features() const override { return 1 + d_; }
  Index n_columns() const override { return d_; }
  Capabilities capabilities() const override {
    Capabilities out;
    out.linear = true;
    out.tokens = this;
    if (learned_) out.prior = this;
    out.urn = this;
    if (!named_.empty()) out.names = this;
    return out;
  }

  const Vec& pseudo_counts() const override { return mean_weight_; }

  std::shared_ptr<const ObsModel> of_terms(const std::vector<int>& terms) const {
    Vec weight;
    for (int v : terms) weight.push_back(weight_[v]);
    weight.push_back(1);
    Keywords keywords = keywords_;
    for (auto& list : keywords.lists)
      for (int& v : list)
        v = static_cast<int>(std::lower_bound(terms.begin(), terms.end(), v) - terms.begin());
    return std::make_shared<Multinomial>(std::move(weight), total_, std::move(keywords));
  }

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override {
    return learned_with_names(t, k, {}, steps, pool);
  }
  std::shared_ptr<const ObsModel> learned_with_names(const double* t, Index k, const std::vector<int>& names,
                                                     PriorSteps steps, Pool* pool) const override {
    HierarchicalDirichlet::Counts counts{t + 1, k, n_features(), pool, {}};
    for (int name : names) counts.apart.push_back(name > 0 ? &columns_of(name) : nullptr);
    return std::make_shared<Multinomial>(hierarchy_of(d_).improved(posterior_, steps, counts), keywords_);
  }
  double log_hyperprior() const override { return log_density_; }
  NamedArrays learned_fields() const override {
    return {{"term_prior", mean_weight_, {}},
            {"term_prior_even", {posterior_.even}, {}},
            {"term_prior_common", {posterior_.common}, {}},
            {"hyper_share", posterior_.omega, {}}};
  }

  Index n_names() const override { return static_cast<Index>(named_.size()); }
  const ObsModel& named(int name) const override { return *named_[static_cast<std::size_t>(name - 1)]; }
  void gains(const double* t, double* out) const override {
    const double all = tokens(t);
    for (std::size_t s = 0; s < named_.size(); ++s) out[s] = named_[s]->gain(t, all);
  }
  const std::vector<int>& columns_of(int name) const override {
    return keywords_.lists[static_cast<std::size_t>(name - 1)];
  }
  int class_of(int name) const override { return keywords_.classes[static_cast<std::size_t>(name - 1)]; }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    gather_linear(data, rows, n, phi, ld);
  }

  double log_evidence(const double* t) const override {
    double sum = 0;
    if (large_prior_) {
      for (Index v = 0; v < d_; ++v) sum += log_rising(weight_[v], count(t, v));
    } else {
      sum = rising(t);
    }
    return sum - log_rising(total_, tokens(t));
  }

  void weights(const double* t, double* w) const override {
    const double all = digamma(total_ + tokens(t));
    w[0] = 0;
    if (const FewCounts* few = few_counts(t)) return few_weights(*few, all, w);
    kernels().digamma_of_counts(d_, weight_.data(), t + 1, all, w + 1);
  }

  double evidence_and_weights(const double* t, double* w) const override {
    if (large_prior_) return ObsModel::evidence_and_weights(t, w);
    if (few_counts(t)) {
      weights(t, w);
      return log_evidence(t);
    }
    const double n = tokens(t);
    w[0] = 0;
    return kernels().digamma_and_rising(d_, weight_.data(), t + 1, digamma(total_ + n),
                                        log_gamma_prior_.data(), w + 1) -
           log_rising(total_, n);
  }

  // E[p] under the posterior, times the mean number of tokens in a row: the divergence between two rows
  // is then the Kullback–Leibler divergence of their smoothed proportions for every token of the first. A
  // row without tokens has no likelihood and is at divergence 0 from everything.
  void point_estimate(const double* t, double* mean, double* w) const override {
    const double n = tokens(t), length = t[0] > 0 ? n / t[0] : 0;
    mean[0] = 1;
    w[0] = 0;
    for (Index v = 0; v < d_; ++v) w[1 + v] = (mean_weight_[v] + count(t, v)) / (total_ + n);
    for (Index v = 0; v < d_; ++v) mean[1 + v] = length * w[1 + v];
    kernels().log_each(d_, w + 1, w + 1);
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    w[0] = 0;
    Vec weight = mean_weight_;
    for (Index v = 0; v < d_; ++v) weight[v] += count(t, v);
    const Vec log_prob = draw_log_dirichlet(weight, stream);
    std::copy(log_prob.begin(), log_prob.end(), w + 1);
  }

  /// An urn holds T and the sum of all λ_v + S_v.
  Index urn_size() const override { return n_features() + 1; }
  void fill_urn(double* urn) const override { urn[n_features()] = total_ + tokens(urn); }
  void refill_urn(double* urn, const double* phi, double sign) const override {
    urn[n_features()] += sign * kernels().positive_sum(d_, phi + 1);
  }
  void urn_predictives(const double* urns, Index k, const double* phi, double* out) const override {
    std::vector<Index> term;
    for (Index v = 0; v < d_; ++v)
      if (phi[1 + v] > 0) term.push_back(v);
    const double row = kernels().positive_sum(d_, phi + 1);
    for (Index i = 0; i < k; ++i) {
      const double* t = urns + i * urn_size();
      LogProduct product;
      for (Index v : term) product.times_rising(mean_weight_[v] + count(t, v), phi[1 + v]);
      out[i] = product.log() - log_rising(t[n_features()], row);
    }
  }

  // Dirichlet–multinomial density of the row's tokens in their given order.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    const double all = total_ + tokens(t);
    for (Index i = 0; i < n; ++i) {
      const double* x = phi + i * ld + 1;
      double sum = 0, row = 0;
      for (Index v = 0; v < d_; ++v) {
        row += x[v];
        sum += log_rising(mean_weight_[v] + count(t, v), x[v]);
      }
      out[i] = sum - log_rising(all, row);
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    return {dirichlet_array(mean_weight_, t, k)};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    NamedArray out = dirichlet_array(mean_weight_, t, k);
    out.name = "prob";
    for (Index i = 0; i < k; ++i) {
      const double all = total_ + tokens(t + i * n_features());
      for (Index v = 0; v < d_; ++v) out.value[i + k * v] /= all;
    }
    return {out};
  }

 private:
  // S ≥ 0 in exact arithmetic, but rounding in sums and differences of summaries can make it negative.
  static double count(const double* t, Index v) { return std::max(t[1 + v], 0.0); }

  // Null if there are few terms, or if too many have counts.
  const FewCounts* few_counts(const double* t) const {
    if (psi_prior_.empty()) return nullptr;
    FewCounts& few = FewCounts::of_this_thread();
    return few.gather(d_, weight_.data(), t + 1, log_gamma_prior_.data()) ? &few : nullptr;
  }

  void few_weights(const FewCounts& few, double all, double* w) const {
    for (Index v = 0; v < d_; ++v) w[1 + v] = psi_prior_[v] - all;
    Vec& psi = FewCounts::of_this_thread().psi;
    kernels().digamma_of_counts(few.n(), few.prior.data(), few.count.data(), all, psi.data());
    for (Index i = 0; i < few.n(); ++i) w[1 + few.at[i]] = psi[i];
  }

  // Σ_v [log Γ(λ_v + S_v) − log Γ(λ_v)].
  double rising(const double* t) const {
    if (const FewCounts* few = few_counts(t))
      return kernels().log_rising_sum(few->n(), few->prior.data(), few->count.data(), few->log_gamma.data());
    return kernels().log_rising_sum(d_, weight_.data(), t + 1, log_gamma_prior_.data());
  }

  double tokens(const double* t) const { return kernels().positive_sum(d_, t + 1); }

  // As long as no prior weight exceeds this (a guess), Λ is computed as a difference of log Γ; above it, by
  // log_gamma_difference(), because the plain difference would lose digits.
  static constexpr double largest_plain = 64;

  void prepare() {
    log_gamma_prior_.resize(weight_.size());
    kernels().log_gamma_each(d_, weight_.data(), log_gamma_prior_.data());
    if (d_ >= FewCounts::many) {
      psi_prior_.resize(weight_.size());
      kernels().digamma_each(d_, weight_.data(), psi_prior_.data());
    }
    large_prior_ = *std::max_element(weight_.begin(), weight_.end()) > largest_plain;
    for (std::size_t s = 0; s < keywords_.lists.size(); ++s)
      named_.push_back(std::make_unique<const KeywordTerms>(*this, TermPrior{weight_, mean_weight_, total_},
                                                            keywords_.lists[s],
                                                            keywords_.weight_of_others[s]));
  }

  Index d_;
  SharePosterior posterior_;  // used if the prior is learned
  bool learned_ = false;
  Vec weight_, mean_weight_;  // λ, and the weights for predictions
  double total_ = 0;          // sum of mean_weight_; at least that of weight_
  double log_density_ = 0;
  Vec log_gamma_prior_;
  Vec psi_prior_;  // only if there are many terms
  bool large_prior_ = false;
  const Keywords keywords_;
  std::vector<std::unique_ptr<const KeywordTerms>> named_;
};

// keyword: columns, from 1; keyword_list: for each the number of its list, from 1, without gaps;
// expected_share: for each list the mean share of its keywords; keyword_class: for each list the class of
// labels that is called the same, 0 for none (all lists where the field is absent). Without these fields no
// cluster has a name.
Keywords keywords_of(const Fields& f, Index d) {
  Keywords out;
  if (!f.has("keyword")) return out;
  const Vec column = f.numbers("keyword");
  const Vec list = f.numbers("keyword_list", static_cast<Index>(column.size()));
  for (std::size_t i = 0; i < column.size(); ++i) {
    const auto s = static_cast<std::size_t>(list[i]);
    const Index v = static_cast<Index>(column[i]) - 1;
    if (s < 1 || s > out.lists.size() + 1 || v < 0 || v >= d)
      throw std::invalid_argument("internal error: field keyword has columns or lists that there are not");
    if (s > out.lists.size()) out.lists.emplace_back();
    out.lists[s - 1].push_back(static_cast<int>(v));
  }
  for (double share : f.numbers("expected_share", static_cast<Index>(out.lists.size()))) {
    out.weight_of_others.push_back(1 / share - 1);
    if (!(out.weight_of_others.back() > 0 && std::isfinite(out.weight_of_others.back())))
      throw std::invalid_argument("internal error: field expected_share is not between 0 and 1");
  }
  out.classes.assign(out.lists.size(), 0);
  if (f.has("keyword_class")) {
    const Vec classes = f.numbers("keyword_class", static_cast<Index>(out.lists.size()));
    std::copy(classes.begin(), classes.end(), out.classes.begin());
  }
  for (const auto& terms : out.lists)
    if (!std::is_sorted(terms.begin(), terms.end()) || static_cast<Index>(terms.size()) >= d)
      throw std::invalid_argument("internal error: field keyword has a list out of order, or of all columns");
  return out;
}

}  // namespace

std::shared_ptr<const ObsModel> counts_of_terms(const ObsModel& tokens, const std::vector<int>& terms) {
  return static_cast<const Multinomial&>(tokens).of_terms(terms);
}

std::unique_ptr<ObsModel> make_multinomial(const Fields& f) {
  Vec weight = of_columns(f, "term_prior");
  const Index d = static_cast<Index>(weight.size());
  if (!f.has("hyper_share")) return std::make_unique<Multinomial>(std::move(weight), keywords_of(f, d));
  return std::make_unique<Multinomial>(
      checked(SharePosterior{f.number("term_prior_even"), f.number("term_prior_common"),
                             f.numbers("hyper_share", d)}),
      keywords_of(f, d));
}

}  // namespace bnpvi
