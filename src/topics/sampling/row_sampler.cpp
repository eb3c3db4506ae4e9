#include "topics/sampling/row_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "foundation/special.h"
#include "kernels/kernels.h"
#include "sampling/urns.h"

namespace bnpvi::topics {

namespace {

constexpr Index rows_between_polls = 1 << 12;  // some milliseconds: a guess

class RowSampler final : public TopicSampler {
 public:
  RowSampler(const ObsModel& obs, const RowFeatures& rows, const std::vector<Index>& starts,
             const TopicPrior& prior, Pool& pool)
      : TopicSampler(prior, starts, pool),
        rows_(rows),
        urns_(obs),
        phi_(static_cast<std::size_t>(rows.p())) {}

 protected:
  double draw_labels(std::vector<int>& label, Stream& stream) override {
    urns_.clear();
    urns_.open(static_cast<Index>(beta_.size()) - 1);
    for (Index i = 0; i < rows_.n(); ++i) urns_.gather(label[i], rows_.of(i, phi_.data()));
    urns_.fill();
    double log_p = 0;
    for (Index d = 0; d < n_documents(); ++d) {
      in_document_.assign(beta_.size(), 0);
      for (Index i = starts_[d]; i < starts_[d + 1]; ++i) ++in_document_[label[i]];
      for (Index i = starts_[d]; i < starts_[d + 1]; ++i) redraw(i, label, stream);
      log_p += log_gamma_difference(alpha_, static_cast<double>(length(d)));
      for (Index j = 0; j < urns_.k(); ++j)
        if (in_document_[j] > 0)
          log_p -= log_gamma_difference(alpha_ * beta_[j], static_cast<double>(in_document_[j]));
    }
    for (Index j = 0; j < urns_.k(); ++j) log_p += urns_.log_evidence(j);
    return log_p;
  }

  double draw_labels_in(const std::vector<Index>& order, std::vector<int>& label, Stream& stream) override {
    urns_.clear();
    double log_p = 0;
    for (Index d : order) {
      in_document_.assign(beta_.size(), 0);
      double before = alpha_;
      for (Index i = starts_[d]; i < starts_[d + 1]; ++i, before += 1) {
        poll();
        const double* phi = rows_.of(i, phi_.data());
        const Index j = choose(phi, stream);
        log_p += top_ + std::log(std::accumulate(weight_.begin(), weight_.end(), 0.0) / before);
        urns_.add(j, phi);
        ++in_document_[j];
        label[i] = static_cast<int>(j);
      }
    }
    return log_p;
  }

  std::vector<Index> sizes() const override { return urns_.counts(); }

 private:
  void poll() {
    if (++since_poll_ % rows_between_polls == 0) pool_.poll();
  }

  void redraw(Index i, std::vector<int>& label, Stream& stream) {
    poll();
    const Index from = label[i];
    const double* phi = rows_.of(i, phi_.data());
    const bool emptied = urns_.remove(from, phi);
    --in_document_[from];
    if (emptied) drop(from, label);
    const Index to = choose(phi, stream);
    if (to == from && !emptied)
      urns_.put_back();
    else
      urns_.add(to, phi);
    ++in_document_[to];
    label[i] = static_cast<int>(to);
  }

  // The last topic gets the number of one without rows.
  void drop(Index j, std::vector<int>& label) {
    const Index last = urns_.k() - 1;
    urns_.drop(j);
    rest_.give_back(beta_[j]);
    beta_[j] = beta_[last];
    in_document_[j] = in_document_[last];
    beta_.pop_back();
    in_document_.pop_back();
    if (j != last) std::replace(label.begin(), label.end(), static_cast<int>(last), static_cast<int>(j));
  }

  // The topic of a row; a new one is opened. Weights of all are left in weight_, times exp(−top_).
  Index choose(const double* phi, Stream& stream) {
    const Index k = urns_.k(), n = rest_.value() > 0 ? k + 1 : k;
    predictive_.resize(static_cast<std::size_t>(n));
    weight_.resize(static_cast<std::size_t>(n));
    urns_.predictives(phi, n, predictive_.data());
    kernels().exp_rows(1, n, predictive_.data(), n, weight_.data(), n, &top_);
    for (Index j = 0; j < k; ++j) weight_[j] *= static_cast<double>(in_document_[j]) + alpha_ * beta_[j];
    if (n > k) weight_[k] *= alpha_ * rest_.value();
    const Index j = draw(weight_, stream);
    if (j < 0) throw std::domain_error("a row has no probability in any topic: numbers broke down");
    if (j == k) {
      beta_.push_back(rest_.take(gamma_, stream));
      in_document_.push_back(0);
    }
    return j;
  }

  const RowFeatures& rows_;
  Urns urns_;
  Vec phi_, predictive_, weight_;
  double top_ = 0;
  std::vector<Index> in_document_;  // n_dk of the present document
  Index since_poll_ = 0;
};

}  // namespace

std::unique_ptr<Sampler> make_row_sampler(const ObsModel& obs, const RowFeatures& rows,
                                          const std::vector<Index>& starts, const TopicPrior& prior,
                                          Pool& pool) {
  return std::make_unique<RowSampler>(obs, rows, starts, prior, pool);
}

}  // namespace bnpvi::topics
