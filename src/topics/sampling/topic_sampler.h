// Gibbs sampling of topics by direct assignment: the proportions of documents and the parameters of topics
// are integrated out.
#pragma once
#include <optional>

#include "foundation/data.h"
#include "foundation/gamma_prior.h"
#include "observations/obs_model.h"
#include "sampling/sampler.h"

namespace bnpvi::topics {

/// The prior of topics. Each document has topic proportions ~ Dirichlet(αβ). The weights β of topics come
/// from a Dirichlet process with concentration γ, or are 1/K if the number K of topics is given.
/// learned_gamma, learned_alpha: priors of the concentrations γ and α; empty: not learned. Their present
/// values are in the state of the chain.
struct TopicPrior {
  Index k = 0;  // number of topics; 0: a Dirichlet process
  std::optional<GammaPrior> learned_gamma = {}, learned_alpha = {};
};

/// Makes the posterior p(z, β, γ, α | x) from which samplers draw. For documents of counts z has a topic for
/// each token, in the order of the stored entries; the tokens of an entry follow each other. For other data z
/// has a topic for each row. The concentrations are named "gamma" and "alpha"; "alpha" only, if the number of
/// topics is given. Throws std::invalid_argument if a count is not a whole number.
std::unique_ptr<Target> make_topic_target(const ObsModel& obs, const Dataset& data, const TopicPrior& prior);

/// The total weight β_rest of all topics without observations. A new topic takes its weight from it.
class RestOfWeights {
 public:
  /// k: number of topics if it is given; 0 for a Dirichlet process. rest: β_rest for a Dirichlet process.
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

/// Weights of topics, the same for all documents: β_1, ..., β_K of the topics in use, and the total weight
/// `rest` of all other topics.
struct TopWeights {
  Vec beta;
  RestOfWeights rest{0, 1, 0};

  /// Weights 1/k if the number k of topics is given. used: number of topics that have observations.
  static TopWeights equal(Index k, Index used);
  /// Weights of a Dirichlet process. weight: K + 1 numbers, β_1, ..., β_K and the total weight of all other
  /// topics.
  static TopWeights of(Vec weight);
};

/// Base class of the samplers of tokens and of rows. The label of an observation (token or row) is the number
/// of its topic. Document d has the observations starts[d] .. starts[d + 1] − 1.
class TopicSampler : public Sampler {
 public:
  TopicSampler(const TopicPrior& prior, const std::vector<Index>& starts, Pool& pool)
      : prior_(prior), starts_(starts), pool_(pool) {}

  /// Draws a first state: the labels (topics) of observations one after the other, each given the labels
  /// drawn before, with documents in random order.
  double draw_in_sequence(ChainState& z, Stream& stream) override;

 protected:
  /// One sweep. Draws the numbers of tables of documents (in the Chinese restaurant franchise), γ, β and α
  /// given the labels (topics of observations). Then draws each label given all others, one document after
  /// the other. The returned log_joint includes the density of log(β_k/β_rest) [Teh and others 2006, §5.3].
  double draw(ChainState& z, Stream& stream) override;
  /// Draws the labels (topics 0 .. K − 1) of all observations anew. weights_: the weights of these topics,
  /// changed as topics come and go. At the end every topic must have an observation. Returns log p(x, z | β,
  /// α).
  virtual double draw_labels(std::vector<int>& label, Stream& stream) = 0;

  /// Draws all labels (topics of observations) one after the other, starting without topics, with documents
  /// in this order. Returns an estimate of log p(x): the sum over observations of the log normaliser of the
  /// draw.
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
