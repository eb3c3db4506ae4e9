#include "topics/sampling/document_draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "topics/model/long_shuffle.h"

namespace bnpvi::topics {

namespace {

constexpr Index observations_between_polls = 1 << 12;  // some milliseconds: a guess

}  // namespace

DocumentDraws::DocumentDraws(const std::vector<Index>& starts, TopicUrns& urns, TopWeights& weights,
                             Pool& pool, Index most, const Vec* mass)
    : starts_(starts), urns_(urns), weights_(weights), pool_(pool), most_(most), mass_(mass) {}

void DocumentDraws::poll() {
  if (++since_poll_ % observations_between_polls == 0) pool_.poll();
}

void DocumentDraws::place_all(std::vector<int>& label, double alpha, double gamma, Stream& stream) {
  label.assign(static_cast<std::size_t>(starts_.back()), 0);
  std::vector<Index> order;
  for (Index d : shuffled(static_cast<Index>(starts_.size()) - 1, stream)) {
    order.resize(static_cast<std::size_t>(starts_[d + 1] - starts_[d]));
    std::iota(order.begin(), order.end(), starts_[d]);
    shuffle(order, stream, pool_);
    place(d, order, label, alpha, gamma, stream);
  }
}

void DocumentDraws::place(Index d, const std::vector<Index>& order, std::vector<int>& label, double alpha,
                          double gamma, Stream& stream, double* log_p) {
  in_document_.assign(weights_.beta.size(), 0);
  double before = alpha;
  for (Index i : order) {
    poll();
    const Index j = draw_topic(i, alpha, gamma, stream);
    if (log_p)
      *log_p += log_scale_ + std::log(std::accumulate(weight_.begin(), weight_.end(), 0.0) / before++);
    urns_.add(j, i, mass(d));
    ++in_document_[j];
    label[i] = static_cast<int>(j);
  }
}

void DocumentDraws::draw_all(std::vector<int>& label, double alpha, double gamma, Stream& stream) {
  for (Index d = 0; d + 1 < static_cast<Index>(starts_.size()); ++d)
    draw_document(d, label, alpha, gamma, stream);
}

const std::vector<Index>& DocumentDraws::draw_document(Index d, std::vector<int>& label, double alpha,
                                                       double gamma, Stream& stream) {
  in_document_.assign(weights_.beta.size(), 0);
  for (Index i = starts_[d]; i < starts_[d + 1]; ++i) ++in_document_[label[i]];
  for (Index i = starts_[d]; i < starts_[d + 1]; ++i) {
    poll();
    const Index from = label[i];
    --in_document_[from];
    if (urns_.remove(from, i, mass(d))) {
      const Index last = urns_.k() - 1;
      urns_.drop(from);
      weights_.rest.give_back(weights_.beta[from]);
      weights_.beta[from] = weights_.beta[last];
      weights_.beta.pop_back();
      in_document_[from] = in_document_[last];
      in_document_.pop_back();
      label[i] = -1;
      if (from != last)
        std::replace(label.begin(), label.end(), static_cast<int>(last), static_cast<int>(from));
    }
    const Index to = draw_topic(i, alpha, gamma, stream);
    urns_.add(to, i, mass(d));
    ++in_document_[to];
    label[i] = static_cast<int>(to);
  }
  return in_document_;
}

Index DocumentDraws::draw_topic(Index i, double alpha, double gamma, Stream& stream) {
  const Index k = urns_.k();
  const double rest = weights_.rest.value();
  if (rest > 0 && k >= most_) capped_ = true;
  const bool may_be_new = rest > 0 && k < most_;
  prior_.resize(static_cast<std::size_t>(may_be_new ? k + 1 : k));
  weight_.resize(prior_.size());
  const double* beta = weights_.beta.data();
  for (Index j = 0; j < k; ++j) prior_[j] = static_cast<double>(in_document_[j]) + alpha * beta[j];
  if (may_be_new) prior_[k] = alpha * rest;
  log_scale_ = urns_.weigh(i, prior_, weight_.data());
  const Index j = draw(weight_, stream);
  if (j < 0) throw std::domain_error("an observation has no probability in any topic: numbers broke down");
  if (j == k) {
    weights_.beta.push_back(weights_.rest.take(gamma, stream));
    in_document_.push_back(0);
  }
  return j;
}

}  // namespace bnpvi::topics
