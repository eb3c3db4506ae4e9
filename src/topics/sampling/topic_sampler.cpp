#include "topics/sampling/topic_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "foundation/special.h"
#include "hdp/tables.h"
#include "sampling/labels.h"
#include "topics/model/document_tables.h"

namespace bnpvi::topics {

double RestOfWeights::take(double gamma, Stream& stream) {
  ++used_;
  if (k_ > 0) return 1 / static_cast<double>(k_);
  Vec weight{rest_};
  open_cluster(weight, gamma, stream);
  rest_ = weight[1];
  return weight[0];
}

void RestOfWeights::give_back(double weight) {
  --used_;
  rest_ += weight;
}

TopWeights TopWeights::equal(Index k, Index used) {
  return {Vec(static_cast<std::size_t>(used), 1 / static_cast<double>(k)), RestOfWeights(k, 0, used)};
}

TopWeights TopWeights::of(Vec weight) {
  const double rest = weight.back();
  weight.pop_back();
  const Index k = static_cast<Index>(weight.size());
  return {std::move(weight), RestOfWeights(0, rest, k)};
}

double TopicSampler::draw(ChainState& z, Stream& stream) {
  load(z);
  draw_top(z.label, stream);
  const double log_joint = draw_labels(z.label, stream) + log_density_of_top();
  store(z);
  return log_joint;
}

double TopicSampler::draw_in_sequence(ChainState& z, Stream& stream) {
  z.label.assign(static_cast<std::size_t>(starts_.back()), 0);
  z.weight.clear();
  load(z);
  weights_ = {{}, RestOfWeights(prior_.k, 1, 0)};
  const double log_evidence = draw_labels_in(shuffled(n_documents(), stream), z.label, stream);
  store(z);
  return log_evidence;
}

// If no weights have been drawn yet, they are the topics' shares of all observations, with γ observations for
// the rest.
void TopicSampler::load(const ChainState& z) {
  alpha_ = z.concentration.back();
  gamma_ = z.concentration.front();
  const Index k = number_of_clusters(z.label);
  if (prior_.k > 0) {
    weights_ = TopWeights::equal(prior_.k, k);
    return;
  }
  Vec weight = z.weight;
  if (static_cast<Index>(weight.size()) != k + 1) {
    weight.assign(static_cast<std::size_t>(k), 0.0);
    for (int label : z.label) weight[label] += 1;
    weight.push_back(gamma_);
    const double all = std::accumulate(weight.begin(), weight.end(), 0.0);
    for (double& w : weight) w /= all;
  }
  weights_ = TopWeights::of(std::move(weight));
}

void TopicSampler::store(ChainState& z) const {
  z.concentration = prior_.k > 0 ? Vec{alpha_} : Vec{gamma_, alpha_};
  z.weight.clear();
  if (prior_.k > 0) return;
  z.weight = weights_.beta;
  z.weight.push_back(weights_.rest.value());
}

void TopicSampler::draw_top(const std::vector<int>& label, Stream& stream) {
  if (prior_.k > 0 && !prior_.learned_alpha) return;
  const Index k = static_cast<Index>(weights_.beta.size());
  const Vec tables = tables_by_topic(draw_document_tables(starts_, label, weights_.beta, alpha_, stream),
                                     label, weights_.beta.size());
  const double all = std::accumulate(tables.begin(), tables.end(), 0.0);
  if (prior_.learned_alpha) alpha_ = draw_alpha(*prior_.learned_alpha, alpha_, starts_, all, stream);
  if (prior_.k > 0) return;
  if (prior_.learned_gamma) gamma_ = draw_gamma_given(*prior_.learned_gamma, gamma_, k, all, stream);
  weights_ = TopWeights::of(draw_top_weights(tables, gamma_, stream));
}

// K log γ + γ log β_rest, or for a finite model the logarithm of the number of ways to choose the topics in
// use; plus the log densities of learned concentrations.
double TopicSampler::log_density_of_top() const {
  double sum = prior_.learned_alpha ? prior_.learned_alpha->log_density(alpha_) : 0;
  const double used = static_cast<double>(weights_.rest.used());
  if (prior_.k > 0) return sum - log_gamma_difference(static_cast<double>(prior_.k) - used + 1, used);
  if (prior_.learned_gamma) sum += prior_.learned_gamma->log_density(gamma_);
  return sum + used * std::log(gamma_) +
         gamma_ * std::log(std::max(weights_.rest.value(), std::numeric_limits<double>::min()));
}

}  // namespace bnpvi::topics
