#include "foundation/types.h"
#include "observations/capabilities.h"
#include "topics/sampling/row_documents.h"
#include "topics/sampling/row_sampler.h"
#include "topics/sampling/token_sampler.h"

namespace bnpvi::topics {

namespace {

std::vector<std::string> names_of(const TopicPrior& prior) {
  return prior.k > 0 ? std::vector<std::string>{"alpha"} : std::vector<std::string>{"gamma", "alpha"};
}

class TokenTarget final : public Target {
 public:
  TokenTarget(const ObsModel& obs, const Dataset& data, const TopicPrior& prior)
      : tokens_(data), lambda_(obs.capabilities().tokens->pseudo_counts()), prior_(prior) {}
  Index n_observations() const override { return tokens_.n(); }
  std::vector<std::string> concentrations() const override { return names_of(prior_); }
  std::unique_ptr<Sampler> sampler(Pool& pool) const override {
    return make_token_sampler(tokens_, lambda_, prior_, pool);
  }

 private:
  const Tokens tokens_;
  const Vec lambda_;
  const TopicPrior prior_;
};

class RowTarget final : public Target {
 public:
  RowTarget(const ObsModel& obs, const Dataset& data, const TopicPrior& prior)
      : obs_(obs), rows_(obs, data), starts_(starts_of_groups(rows_, data)), prior_(prior) {}
  Index n_observations() const override { return rows_.n(); }
  std::vector<std::string> concentrations() const override { return names_of(prior_); }
  std::unique_ptr<Sampler> sampler(Pool& pool) const override {
    return make_row_sampler(obs_, rows_, starts_, prior_, pool);
  }

 private:
  const ObsModel& obs_;
  const RowFeatures rows_;
  const std::vector<Index> starts_;
  const TopicPrior prior_;
};

}  // namespace

std::unique_ptr<Target> make_topic_target(const ObsModel& obs, const Dataset& data, const TopicPrior& prior) {
  if (obs.capabilities().tokens && data.sparse()) return std::make_unique<TokenTarget>(obs, data, prior);
  return std::make_unique<RowTarget>(obs, data, prior);
}

}  // namespace bnpvi::topics
