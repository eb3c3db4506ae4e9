#include "topics/sampling/row_sampler.h"

#include "foundation/special.h"
#include "sampling/row_urns.h"
#include "topics/sampling/document_draws.h"

namespace bnpvi::topics {

namespace {

class RowSampler final : public TopicSampler {
 public:
  RowSampler(const ObsModel& obs, const RowFeatures& rows, const std::vector<Index>& starts,
             const TopicPrior& prior, Pool& pool)
      : TopicSampler(prior, starts, pool),
        urns_(obs, rows),
        draws_(starts, urns_, weights_, pool) {}

 protected:
  double draw_labels(std::vector<int>& label, Stream& stream) override {
    urns_.begin_with(label);
    double log_p = 0;
    for (Index d = 0; d < n_documents(); ++d) {
      const std::vector<Index>& n = draws_.draw_document(d, label, alpha_, gamma_, stream);
      log_p += log_gamma_difference(alpha_, static_cast<double>(length(d)));
      for (std::size_t j = 0; j < n.size(); ++j)
        if (n[j] > 0) log_p -= log_gamma_difference(alpha_ * weights_.beta[j], static_cast<double>(n[j]));
    }
    for (Index j = 0; j < urns_.k(); ++j) log_p += urns_.urns().log_evidence(j);
    return log_p;
  }

  double draw_labels_in(const std::vector<Index>& order, std::vector<int>& label, Stream& stream) override {
    urns_.begin_with(nullptr, 0);
    double log_p = 0;
    for (Index d : order) {
      draws_.begin_document(alpha_, gamma_);
      double before = alpha_;
      for (Index i = starts_[d]; i < starts_[d + 1]; ++i) {
        draws_.place(i, label, stream);
        log_p += draws_.log_predictive(before++);
      }
    }
    return log_p;
  }

  std::vector<Index> sizes() const override { return urns_.urns().counts(); }

 private:
  RowUrns urns_;
  DocumentDraws draws_;
};

}  // namespace

std::unique_ptr<Sampler> make_row_sampler(const ObsModel& obs, const RowFeatures& rows,
                                          const std::vector<Index>& starts, const TopicPrior& prior,
                                          Pool& pool) {
  return std::make_unique<RowSampler>(obs, rows, starts, prior, pool);
}

}  // namespace bnpvi::topics
