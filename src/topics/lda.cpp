#include "foundation/rounded_sum.h"
#include "foundation/special.h"
#include "topics/topic_model.h"
#include "topics/topic_sum.h"

namespace bnpvi::topics {

namespace {

class Lda final : public TopicAlloc {
 public:
  Lda(Index k, double alpha, const Sparsity& sparsity) : TopicAlloc(alpha, sparsity), k_(k) {}

  Index fixed_k() const override { return k_; }
  bool ordered() const override { return false; }

  Vec document_prior(const Globals&) const override { return Vec(static_cast<std::size_t>(k_), each()); }

  Globals global_step(const Summary& total, const Globals&) const override { return {total, {}, {}}; }

  Globals globals_at(Summary total, const Vec&) const override { return {std::move(total), {}, {}}; }

  bool settle(Summary&, const Globals&) const override { return false; }

  Terms elbo_terms(const Summary& total, const Globals&) const override {
    const double log_gamma_a = log_gamma(each());
    const double documents = total.scalar[TopicScalar::documents];
    RoundedSum sum;
    sum.add(documents * log_gamma(alpha_));
    sum.add(-documents * static_cast<double>(k_) * log_gamma_a);
    sum.add(total.scalar[TopicScalar::lengths]);
    for (Index j = 0; j < k_; ++j) {
      const double* extra = total.extra.data() + j * TopicExtra::size;
      sum.add(each() * extra[TopicExtra::slope]);
      sum.add(extra[TopicExtra::offset]);
      sum.add((documents - extra[TopicExtra::users]) * log_gamma_a);
    }
    return {{"documents", sum.term()}, {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals&) const override {
    Vec out(static_cast<std::size_t>(k_ + 1), 1.0 / static_cast<double>(k_));
    out.back() = 0;
    return out;
  }

  NamedArrays posterior(const Globals&) const override { return {}; }

 protected:
  Vec document_prior_of(const Vec&) const override { return document_prior({}); }

 private:
  double each() const { return alpha_ / static_cast<double>(k_); }

  Index k_;
};

}  // namespace

std::unique_ptr<AllocModel> make_lda(Index k, double alpha, const Sparsity& sparsity) {
  return std::make_unique<Lda>(k, alpha, sparsity);
}

}  // namespace bnpvi::topics
