#include "foundation/rounded_sum.h"
#include "foundation/special.h"
#include "topics/model/topic_model.h"
#include "topics/model/topic_sum.h"

namespace bnpvi::topics {

namespace {

class Lda final : public TopicAlloc {
 public:
  Lda(Index k, const Concentration& alpha, const Sparsity& sparsity,
      std::shared_ptr<const ResponseModel> response)
      : TopicAlloc(k, alpha, sparsity, std::move(response)) {}

  Vec document_prior(const Globals& globals) const override { return equal(globals.effective.k); }

  Globals global_step(const Summary& total, const Globals&) const override { return {total, {}, {}}; }

  Globals globals_at(Summary total, const Vec&) const override { return {std::move(total), {}, {}}; }

  // The proportions of topics are known: only a learned α moves tangents.
  AllocCapabilities capabilities() const override {
    AllocCapabilities out = TopicAlloc::capabilities();
    if (!alpha_.prior) out.tangents = nullptr;
    return out;
  }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    const RoundedSum sum = value_of_documents(total, {});
    Terms terms{{"documents", sum.term()}, {"entropy", total.entropy()}};
    add_response_term(total, globals, terms);
    return terms;
  }

  Vec mean_weights(const Globals& globals) const override {
    const Index k = globals.effective.k;
    Vec out(static_cast<std::size_t>(k + 1), 1.0 / static_cast<double>(k));
    out.back() = 0;
    return out;
  }

  NamedArrays posterior(const Globals&) const override { return {}; }

 protected:
  RoundedSum value_of_documents(const Summary& total, const WeightMoments&) const override {
    const double a = each(total.k), log_gamma_a = log_gamma(a);
    const double documents = total.scalar[TopicScalar::documents];
    RoundedSum sum;
    sum.add(documents * log_gamma(alpha()));
    sum.add(-documents * static_cast<double>(total.k) * log_gamma_a);
    sum.add(total.scalar[TopicScalar::lengths]);
    for (Index j = 0; j < total.k; ++j) {
      const double* extra = total.extra.data() + j * TopicExtra::size;
      sum.add(a * extra[TopicExtra::slope]);
      sum.add(extra[TopicExtra::offset]);
      sum.add((documents - extra[TopicExtra::users]) * log_gamma_a);
    }
    return sum;
  }

  Vec document_prior_of(const Vec& sizes) const override { return equal(static_cast<Index>(sizes.size())); }

  std::unique_ptr<TopicAlloc> with(const Concentration& alpha) const override {
    return std::make_unique<Lda>(fixed_k(), alpha, sparsity_, response_);
  }

 private:
  // α/K of k topics: K, or fewer once some have been joined.
  double each(Index k) const { return alpha() / static_cast<double>(k); }
  Vec equal(Index k) const { return Vec(static_cast<std::size_t>(k), each(k)); }
};

}  // namespace

std::unique_ptr<AllocModel> make_lda(Index k, const Concentration& alpha, const Sparsity& sparsity,
                                     std::shared_ptr<const ResponseModel> response) {
  return std::make_unique<Lda>(k, alpha, sparsity, std::move(response));
}

}  // namespace bnpvi::topics
