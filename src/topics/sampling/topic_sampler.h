// Gibbs sampling of topics by direct assignment: the proportions of documents and the parameters of topics
// are integrated out.
#pragma once
#include <optional>

#include "foundation/data.h"
#include "foundation/gamma_prior.h"
#include "observations/obs_model.h"
#include "sampling/sampler.h"

namespace bnpvi::topics {

/// The prior of topics: proportions of documents are Dirichlet(αβ); the weights β of topics are drawn from a
/// Dirichlet process of concentration γ, or are 1/K for K topics. The values of learned concentrations are in
/// the chain's state.
struct TopicPrior {
  Index k = 0;  // number of topics; 0: a Dirichlet process
  std::optional<GammaPrior> learned_gamma = {}, learned_alpha = {};
};

/// Makes the posterior p(z, β, γ, α | x) from which chains draw. It has a topic z for each token of documents
/// of counts (in the order of the stored entries, the tokens of one entry in a row), or for each row of other
/// data. The concentrations are named "gamma" and "alpha", or "alpha" alone. Throws std::invalid_argument
/// where a count is not a whole number.
std::unique_ptr<Target> make_topic_target(const ObsModel& obs, const Dataset& data, const TopicPrior& prior);

/// The total weight β_rest of all topics without observations, from which new topics take their weight.
class RestOfWeights {
 public:
  /// k: number of topics of a finite model; 0 for a Dirichlet process. rest: β_rest of a Dirichlet process.
  /// used: number of topics that have observations.
  RestOfWeights(Index k, double rest, Index used) : k_(k), used_(used), rest_(rest) {}

  double value() const { return k_ > 0 ? static_cast<double>(k_ - used_) / static_cast<double>(k_) : rest_; }
  double take(double gamma, Stream& stream);  // draws the weight of a new topic
  void give_back(double weight);              // returns the weight of a topic that lost its last observation
  Index used() const { return used_; }

 private:
  Index k_, used_;
  double rest_;
};

/// Weights of topics that all documents share: β_1, ..., β_K of the topics in use, and the total weight
/// `rest` of all other topics.
struct TopWeights {
  Vec beta;
  RestOfWeights rest{0, 1, 0};

  /// Weights 1/k in a finite model with k topics, `used` of which have observations.
  static TopWeights equal(Index k, Index used);
  /// Weights of a Dirichlet process. weight: β_1, ..., β_K and, last, the total weight of all other topics.
  static TopWeights of(Vec weight);
};

/// Base class of the samplers of tokens and of rows. The observations of document d have the labels (topics)
/// at starts[d] .. starts[d + 1] − 1.
class TopicSampler : public Sampler {
 public:
  TopicSampler(const TopicPrior& prior, const std::vector<Index>& starts, Pool& pool)
      : prior_(prior), starts_(starts), pool_(pool) {}

  /// Draws a first state: labels one after the other, each given those before, with documents in random
  /// order.
  double draw_in_sequence(ChainState& z, Stream& stream) override;

 protected:
  /// One sweep: draws the tables of the documents (in the Chinese restaurant franchise), γ, β and α given the
  /// labels, then each label given all others, document by document. log_joint includes the density of log
  /// β_k/β_rest [Teh and others 2006, §5.3].
  double draw(ChainState& z, Stream& stream) override;
  /// Draws the labels, 0 .. K − 1, of all observations; weights_ has the weights of these topics. In the end
  /// every topic must have an observation. Returns log p(x, z | β, α).
  virtual double draw_labels(std::vector<int>& label, Stream& stream) = 0;

  /// Draws all labels one after the other, starting without topics, with documents in this order. Returns the
  /// logarithm of the product of the normalisers of all draws, an estimate of log p(x).
  virtual double draw_labels_in(const std::vector<Index>& order, std::vector<int>& label, Stream& stream) = 0;

  Index n_documents() const { return static_cast<Index>(starts_.size()) - 1; }
  Index length(Index d) const { return starts_[d + 1] - starts_[d]; }

  const TopicPrior prior_;
  const std::vector<Index>& starts_;
  Pool& pool_;
  double gamma_ = 1, alpha_ = 1;
  TopWeights weights_;

 private:
  void load(const ChainState& z);
  void store(ChainState& z) const;
  void draw_top(const std::vector<int>& label, Stream& stream);
  double log_density_of_top() const;
};

}  // namespace bnpvi::topics
