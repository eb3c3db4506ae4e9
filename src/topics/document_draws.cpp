#include "topics/document_draws.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace bnpvi::topics {

namespace {

constexpr Index tokens_between_polls = 1 << 14;  // some milliseconds: a guess

}  // namespace

DocumentDraws::DocumentDraws(const Tokens& tokens, TokenUrns& urns, TopWeights& weights, Pool& pool,
                             Index most, const Vec* mass)
    : tokens_(tokens), urns_(urns), weights_(weights), pool_(pool), most_(most), mass_(mass) {}

void DocumentDraws::poll(Index tokens) {
  if ((since_poll_ += tokens) < tokens_between_polls) return;
  since_poll_ = 0;
  pool_.poll();
}

void DocumentDraws::place_all(std::vector<int>& label, double alpha, double gamma, Stream& stream) {
  label.assign(static_cast<std::size_t>(tokens_.n()), 0);
  std::vector<Index> order;
  for (Index d : shuffled(static_cast<Index>(tokens_.starts.size()) - 1, stream)) {
    in_document_.assign(weights_.beta.size(), 0);
    order.resize(static_cast<std::size_t>(tokens_.starts[d + 1] - tokens_.starts[d]));
    std::iota(order.begin(), order.end(), tokens_.starts[d]);
    draw_to_front(order, static_cast<Index>(order.size()), stream);
    for (Index i : order) {
      poll(1);
      const Index j = draw_topic(tokens_.word[i], alpha, gamma, stream);
      urns_.add(j, tokens_.word[i], mass(static_cast<std::size_t>(d)));
      ++in_document_[j];
      label[i] = static_cast<int>(j);
    }
  }
}

void DocumentDraws::draw_all(std::vector<int>& label, double alpha, double gamma, Stream& stream) {
  for (std::size_t d = 0; d + 1 < tokens_.starts.size(); ++d) {
    in_document_.assign(weights_.beta.size(), 0);
    for (Index i = tokens_.starts[d]; i < tokens_.starts[d + 1]; ++i) ++in_document_[label[i]];
    for (Index i = tokens_.starts[d]; i < tokens_.starts[d + 1]; ++i) {
      poll(1);
      const Index from = label[i];
      --in_document_[from];
      if (urns_.remove(from, tokens_.word[i], mass(d))) {
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
      const Index to = draw_topic(tokens_.word[i], alpha, gamma, stream);
      urns_.add(to, tokens_.word[i], mass(d));
      ++in_document_[to];
      label[i] = static_cast<int>(to);
    }
  }
}

Index DocumentDraws::draw_topic(Index word, double alpha, double gamma, Stream& stream) {
  const Index k = urns_.k();
  weight_.resize(static_cast<std::size_t>(k + 1));
  const double fresh = urns_.predictives(word, weight_.data());
  const double* beta = weights_.beta.data();
  for (Index j = 0; j < k; ++j) weight_[j] *= static_cast<double>(in_document_[j]) + alpha * beta[j];
  const double rest = weights_.rest.value();
  if (rest > 0 && k >= most_) capped_ = true;
  weight_[k] = k < most_ ? alpha * rest * fresh : 0;
  const Index j = draw(weight_, stream);
  if (j < 0) throw std::domain_error("a token has no probability in any topic: numbers broke down");
  if (j == k) {
    weights_.beta.push_back(weights_.rest.take(gamma, stream));
    in_document_.push_back(0);
  }
  return j;
}

}  // namespace bnpvi::topics
