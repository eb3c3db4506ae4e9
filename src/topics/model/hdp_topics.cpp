#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "hdp/dirichlet_rows.h"
#include "topics/model/topic_model.h"
#include "topics/model/topic_sum.h"

namespace bnpvi::topics {

namespace {

class HdpTopics final : public TopicAlloc {
 public:
  HdpTopics(const TopConcentration& gamma, const Concentration& alpha, RowBound bound,
            const Sparsity& sparsity, std::shared_ptr<const ResponseModel> response)
      : TopicAlloc(0, alpha, sparsity, std::move(response)), gamma_(gamma), bound_(bound) {}

  Vec document_prior(const Globals& globals) const override {
    Vec a = weights_from_sticks(globals.u);
    a.pop_back();
    for (double& x : a) x *= alpha();
    return a;
  }

  Globals globals_at(Summary total, const Vec& weights) const override {
    Globals out{std::move(total), sticks_from_weights(weights), {}};
    const TopLevel top =
        top_level(out.effective.k, out.effective.scalar[TopicScalar::documents], gamma_.mean());
    out.omega = closed_form(top).omega;
    return out;
  }

  Globals global_step(const Summary& total, const Globals& from) const override {
    const double documents = total.scalar[TopicScalar::documents];
    Globals out = globals_at(total, weights_of(total.sizes()));
    if (documents == 0) return out;
    if (static_cast<Index>(from.u.size()) == total.k) {
      out.u = from.u;
      out.omega = from.omega;
    }
    DirichletRows rows = rows_of(documents);
    const WeightMoments first = weight_moments({out.u, out.omega});
    const double gamma = gamma_.at(first);
    rows.choose(first);
    const auto by_weights = [&](const WeightMoments& pi, WeightMoments* gradient) {
      RoundedSum sum = weight_terms(total, pi.mean, gradient ? &gradient->mean : nullptr);
      sum.add(rows.value(pi, gradient));
      sum.add(gamma_.beyond(gamma, pi, gradient));
      return sum;
    };
    HdpSticks q = maximise_sticks(top_level(total.k, documents, gamma), by_weights, {out.u, out.omega});
    out.u = std::move(q.u);
    out.omega = std::move(q.omega);
    return out;
  }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    const double documents = total.scalar[TopicScalar::documents];
    const WeightMoments pi = weight_moments({globals.u, globals.omega});
    DirichletRows rows = rows_of(documents);
    rows.choose(pi);
    const RoundedSum sum = document_terms(total, pi);
    const double gamma = gamma_.at(pi);
    const double top = top_value(top_level(total.k, documents, gamma), {globals.u, globals.omega}).term() +
                       documents * static_cast<double>(total.k) * std::log(alpha()) +
                       rows.value(pi, nullptr).term() + gamma_.beyond(gamma, pi, nullptr).term();
    Terms terms{{"documents", sum.term()}, {"top_level", top}, {"entropy", total.entropy()}};
    add_response_term(total, globals, terms);
    return terms;
  }

  Vec mean_weights(const Globals& globals) const override { return weights_from_sticks(globals.u); }

  NamedArrays posterior(const Globals& globals) const override {
    const Index k = static_cast<Index>(globals.u.size());
    NamedArray sticks{"sticks", Vec(static_cast<std::size_t>(2 * k)), {k, 2}};
    for (Index j = 0; j < k; ++j) {
      sticks.value[j] = globals.u[j] * globals.omega[j];
      sticks.value[k + j] = (1 - globals.u[j]) * globals.omega[j];
    }
    NamedArrays out{sticks};
    gamma_.add_posterior({globals.u, globals.omega}, out);
    return out;
  }

 protected:
  RoundedSum value_of_documents(const Summary& total, const WeightMoments& pi) const override {
    const double documents = total.scalar[TopicScalar::documents];
    DirichletRows rows = rows_of(documents);
    rows.choose(pi);
    RoundedSum sum = document_terms(total, pi);
    sum.add(documents * static_cast<double>(total.k) * std::log(alpha()));
    sum.add(rows.value(pi, nullptr));
    return sum;
  }

  Vec document_prior_of(const Vec& sizes) const override {
    Vec a = weights_of(sizes);
    a.pop_back();
    for (double& x : a) x *= alpha();
    return a;
  }

  std::unique_ptr<TopicAlloc> with(const Concentration& alpha) const override {
    return std::make_unique<HdpTopics>(gamma_, alpha, bound_, sparsity_, response_);
  }

 private:
  // E[π] as if every token were a separate draw from π: proportional to sizes + 1, and γ for the remainder.
  Vec weights_of(const Vec& sizes) const {
    Vec out;
    double sum = gamma_.mean();
    for (double n : sizes) sum += n + 1;
    for (double n : sizes) out.push_back((std::max(n, 0.0) + 1) / sum);
    out.push_back(gamma_.mean() / sum);
    return out;
  }

  DirichletRows rows_of(double documents) const {
    DirichletRows rows(bound_);
    rows.add_plain(documents, alpha());
    return rows;
  }

  RoundedSum document_terms(const Summary& total, const WeightMoments& pi) const {
    RoundedSum sum = weight_terms(total, pi.mean, nullptr);
    sum.add(total.scalar[TopicScalar::lengths]);
    for (Index j = 0; j < total.k; ++j) sum.add(total.extra[j * TopicExtra::size + TopicExtra::offset]);
    return sum;
  }

  // Σ_k [απ_k slope_k + (D − n_k) log Γ(απ_k)] + D log Γ(απ_{K+1}): the terms of the documents' part that
  // depend on π. Their derivatives are added to `gradient`.
  RoundedSum weight_terms(const Summary& total, const Vec& pi, Vec* gradient) const {
    const double documents = total.scalar[TopicScalar::documents];
    RoundedSum sum;
    for (Index j = 0; j <= total.k; ++j) {
      const bool remainder = j == total.k;  // no document uses it
      const double slope = remainder ? 0 : total.extra[j * TopicExtra::size + TopicExtra::slope];
      const double others =
          documents - (remainder ? 0 : total.extra[j * TopicExtra::size + TopicExtra::users]);
      const double a = alpha() * pi[j];
      sum.add(a * slope);
      sum.add(others * log_gamma(a));
      if (gradient) (*gradient)[j] += alpha() * (slope + others * digamma(a));
    }
    return sum;
  }

  TopConcentration gamma_;
  RowBound bound_;
};

}  // namespace

std::unique_ptr<AllocModel> make_hdp_topics(const TopConcentration& gamma, const Concentration& alpha,
                                            RowBound bound, const Sparsity& sparsity,
                                            std::shared_ptr<const ResponseModel> response) {
  return std::make_unique<HdpTopics>(gamma, alpha, bound, sparsity, std::move(response));
}

}  // namespace bnpvi::topics
