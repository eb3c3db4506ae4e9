#include "topics/sampling/document_draws.h"

#include <numeric>

#include "topics/model/long_shuffle.h"

namespace bnpvi::topics {

DocumentDraws::DocumentDraws(const std::vector<Index>& starts, ObservationUrns& urns, TopWeights& weights,
                             Pool& pool, Index most, const Vec* mass)
    : ClusterDraws(urns, pool, most), starts_(starts), weights_(weights), pool_(pool), mass_(mass) {}

void DocumentDraws::begin_document(double alpha, double gamma) {
  alpha_ = alpha;
  gamma_ = gamma;
  in_document_.assign(weights_.beta.size(), 0);
}

void DocumentDraws::place_all(std::vector<int>& label, double alpha, double gamma, Stream& stream) {
  label.assign(static_cast<std::size_t>(starts_.back()), 0);
  std::vector<Index> order;
  for (Index d : shuffled(static_cast<Index>(starts_.size()) - 1, stream)) {
    order.resize(static_cast<std::size_t>(starts_[d + 1] - starts_[d]));
    std::iota(order.begin(), order.end(), starts_[d]);
    shuffle(order, stream, pool_);
    begin_document(alpha, gamma);
    for (Index i : order) place(i, label, stream, mass(d));
  }
}

void DocumentDraws::draw_all(std::vector<int>& label, double alpha, double gamma, Stream& stream) {
  for (Index d = 0; d + 1 < static_cast<Index>(starts_.size()); ++d)
    draw_document(d, label, alpha, gamma, stream);
}

const std::vector<Index>& DocumentDraws::draw_document(Index d, std::vector<int>& label, double alpha,
                                                       double gamma, Stream& stream) {
  begin_document(alpha, gamma);
  for (Index i = starts_[d]; i < starts_[d + 1]; ++i) ++in_document_[label[i]];
  for (Index i = starts_[d]; i < starts_[d + 1]; ++i) redraw(i, label, stream, mass(d));
  return in_document_;
}

void DocumentDraws::find_odds(Index /*i*/, Vec& odds) const {
  const std::size_t k = in_document_.size();
  const double* beta = weights_.beta.data();
  for (std::size_t j = 0; j < k; ++j) odds[j] = static_cast<double>(in_document_[j]) + alpha_ * beta[j];
  odds[k] = alpha_ * weights_.rest.value();
}

void DocumentDraws::joins(Index /*i*/, Index j, Stream& stream) {
  if (j == static_cast<Index>(in_document_.size())) {
    weights_.beta.push_back(weights_.rest.take(gamma_, stream));
    in_document_.push_back(0);
  }
  ++in_document_[j];
}

void DocumentDraws::leaves(Index /*i*/, Index j) { --in_document_[j]; }

void DocumentDraws::dropped(Index j) {
  weights_.rest.give_back(weights_.beta[j]);
  weights_.beta[j] = weights_.beta.back();
  weights_.beta.pop_back();
  in_document_[j] = in_document_.back();
  in_document_.pop_back();
}

}  // namespace bnpvi::topics
