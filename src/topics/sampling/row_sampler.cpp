#include "topics/sampling/row_sampler.h"

#include <limits>
#include <numeric>

#include "foundation/special.h"
#include "topics/sampling/document_draws.h"
#include "topics/sampling/row_urns.h"

namespace bnpvi::topics {

namespace {

class RowSampler final : public TopicSampler {
 public:
  RowSampler(const ObsModel& obs, const RowFeatures& rows, const std::vector<Index>& starts,
             const TopicPrior& prior, Pool& pool)
      : TopicSampler(prior, starts, pool),
        urns_(obs, rows),
        draws_(starts, urns_, weights_, pool, std::numeric_limits<Index>::max()) {}

 protected:
  double draw_labels(std::vector<int>& label, Stream& stream) override {
    urns_.begin_with(label, static_cast<Index>(weights_.beta.size()));
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
    std::vector<Index> rows;
    for (Index d : order) {
      rows.resize(static_cast<std::size_t>(length(d)));
      std::iota(rows.begin(), rows.end(), starts_[d]);
      draws_.place(d, rows, label, alpha_, gamma_, stream, &log_p);
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
