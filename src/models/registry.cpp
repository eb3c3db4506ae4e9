#include "models/registry.h"

#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "chains/model/hmm.h"
#include "chains/sampling/path_sampler.h"
#include "chains/sampling/place_sampler.h"
#include "dynamics/expected_system.h"
#include "mixtures/concentration_posterior.h"
#include "mixtures/mixture.h"
#include "mixtures/partition_sampler.h"
#include "observations/obs_glm.h"
#include "observations/obs_product.h"
#include "observations/repeated_rows.h"
#include "topics/model/topic_model.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi {

namespace {
// Shape and rate of the Gamma prior of a concentration that is integrated out; none if the field is one
// number.
std::optional<GammaPrior> gamma_prior(const Fields& f, const char* name) {
  if (f.numbers(name).size() == 1) return std::nullopt;
  const Vec prior = f.numbers(name, 2);
  return GammaPrior{prior[0], prior[1]};
}

std::unique_ptr<AllocModel> make_sticks(const Fields& f, double discount, const Sparsity& sparsity) {
  if (const auto prior = gamma_prior(f, "concentration"))
    return mixtures::make_pitman_yor(*prior, discount, sparsity);
  return mixtures::make_pitman_yor(f.number("concentration"), discount, sparsity);
}

// Field `patterns`: the covariates of each pattern, patterns × columns, column-major; returned row-major.
Vec patterns_by_row(const Fields& f, Index patterns, Index columns) {
  const Vec x = columns > 0 ? f.numbers("patterns", patterns * columns) : Vec();
  Vec out;
  for (Index c = 0; c < patterns; ++c)
    for (Index i = 0; i < columns; ++i) out.push_back(x[i * patterns + c]);
  return out;
}

TiltPrior tilt_prior(const Fields& f) {
  TiltPrior prior;
  prior.patterns = f.integer("n_patterns");
  prior.columns = f.integer("n_columns");
  prior.variance = f.number("effect_scale") * f.number("effect_scale");
  prior.concentration = f.number("concentration");
  prior.finite = f.has("k");
  prior.x = patterns_by_row(f, prior.patterns, prior.columns);
  if (f.has("pull")) prior.pull = f.numbers("pull");
  return prior;
}

// The same for documents; `more_variance`: for new documents, see TopicTilt.
std::unique_ptr<AllocModel> make_tilted_proportions(const Fields& f, const Sparsity& sparsity) {
  topics::TopicTilt tilt;
  tilt.patterns = f.integer("n_patterns");
  tilt.columns = f.integer("n_columns");
  tilt.variance = f.number("effect_scale") * f.number("effect_scale");
  tilt.alpha = f.number("alpha");
  tilt.x = patterns_by_row(f, tilt.patterns, tilt.columns);
  if (f.has("more_variance")) tilt.more_variance = f.numbers("more_variance", tilt.patterns);
  return topics::make_tilted_topics(tilt, f.number("concentration"), sparsity);
}

TopConcentration top_concentration(const Fields& f) {
  const auto prior = gamma_prior(f, "gamma");
  return prior ? TopConcentration(*prior) : TopConcentration(f.number("gamma"));
}

// The least values are those of parameter_ranges in R/check.R; if the number of clusters is fixed, for each
// of k clusters.
Concentration concentration(const Fields& f, const char* name, double k = 1) {
  return make_concentration(f.numbers(name), 1e-8 * k);
}

chains::HmmPrior hmm_prior(const Fields& f, double k = 1) {
  chains::HmmPrior out{concentration(f, "alpha", k), concentration(f, "start", k),
                       make_concentration(f.numbers("sticky"), 1e-50),
                       f.has("positions") ? f.integer("positions") : 1};
  if (!f.has("cell_fixed")) return out;
  const Index states = f.integer("k");
  const auto by_row = [&](const Vec& cells) {
    Vec rows;
    for (Index row = 0; row <= states; ++row)
      for (Index j = 0; j < states; ++j) rows.push_back(cells.at(j * (states + 1) + row));
    return rows;
  };
  out.pattern = std::make_shared<const chains::TransitionPattern>(states, by_row(f.numbers("cell_fixed")),
                                                                  by_row(f.numbers("cell_weight")));
  return out;
}

std::unique_ptr<AllocModel> make_tilted_weights(const Fields& f, const Sparsity& sparsity) {
  TiltPrior prior = tilt_prior(f);
  const Index k = prior.finite ? f.integer("k") : 0;
  return mixtures::make_tilted(std::move(prior), k, sparsity);
}

std::unique_ptr<AllocModel> make_tilted_hmm(const Fields& f, RowBound bound, const Sparsity& sparsity) {
  TiltPrior tilt = tilt_prior(f);
  const Index k = tilt.finite ? f.integer("k") : 0;
  chains::HmmPrior prior = hmm_prior(f, k > 0 ? static_cast<double>(k) : 1);
  const TopConcentration gamma(tilt.concentration);
  prior.tilt = std::make_shared<const chains::TiltedTransitions>(std::move(tilt));
  if (k > 0) return chains::make_hmm(prior, k, sparsity);
  return chains::make_hdp_hmm(prior, gamma, bound, sparsity);
}

std::unique_ptr<ObsModel> make_product_of(const Fields& f) {
  std::vector<ProductBlock> blocks;
  for (const auto& [name, fields] : f.lists("blocks")) blocks.push_back({name, make_obs_model(*fields)});
  return make_product(std::move(blocks));
}

const std::map<std::string, std::unique_ptr<ObsModel> (*)(const Fields&)> obs_models{
    {"ar", make_ar},
    {"bernoulli", make_bernoulli},
    {"binomial", make_binomial},
    {"binomial_regression", make_glm},
    {"categorical", make_categorical},
    {"censored", make_censored},
    {"censored_weibull", make_weibull},
    {"gaussian_diagonal", make_gaussian_diagonal},
    {"gaussian_full", make_gaussian_full},
    {"gaussian_spherical", make_gaussian_spherical},
    {"gaussian_tied", make_gaussian_tied},
    {"gaussian_tied_diagonal", make_gaussian_tied_diagonal},
    {"gaussian_tied_spherical", make_gaussian_tied_spherical},
    {"gaussian_zero_mean", make_gaussian_zero_mean},
    {"lognormal_diagonal", make_lognormal_diagonal},
    {"lognormal_full", make_lognormal_full},
    {"lds", dynamics::make_system},
    {"multinomial", make_multinomial},
    {"negative_binomial", make_negative_binomial},
    {"negbinomial_regression", make_glm},
    {"poisson", make_poisson},
    {"product", make_product_of},
    {"random_effects", make_regression},
    {"regression", make_regression},
    {"shaped_gamma", make_shaped_gamma},
    {"von_mises", make_von_mises},
    {"waiting_time", make_gamma},
    {"weibull", make_weibull},
    {"student_full", make_student_full},
    {"student_diagonal", make_student_diagonal}};

}  // namespace

std::unique_ptr<ObsModel> make_obs_model(const Fields& f) {
  const auto found = obs_models.find(f.text("family"));
  if (found == obs_models.end())
    throw std::invalid_argument("unknown observation model: " + f.text("family"));
  std::unique_ptr<ObsModel> of_rows = found->second(f);
  if (f.optional_flag("zeros")) of_rows = make_zero_cells(std::move(of_rows));
  if (!f.optional_flag("repeated") || of_rows->capabilities().individuals) return of_rows;
  return std::make_unique<RepeatedRows>(std::move(of_rows));
}

namespace {

std::shared_ptr<const topics::ResponseModel> make_response_model(const Fields* f) {
  if (!f) return nullptr;
  const std::string family = f->text("family");
  using topics::ResponseFamily;
  topics::ResponsePrior prior;
  if (family == "gaussian")
    prior.family = ResponseFamily::gaussian;
  else if (family == "logistic")
    prior.family = ResponseFamily::logistic;
  else if (family == "hinge")
    prior.family = ResponseFamily::hinge;
  else if (family == "tube")
    prior.family = ResponseFamily::tube;
  else
    throw std::invalid_argument("unknown response: " + family);
  prior.equations = f->integer("equations");
  prior.covariates = f->integer("covariates");
  prior.precision = f->number("precision");
  prior.df = f->number("df");
  prior.scale = f->number("scale");
  prior.variance = f->number("variance");
  prior.cost = f->number("cost");
  prior.epsilon = f->number("epsilon");
  prior.weight = f->number("weight");
  return std::make_shared<const topics::ResponseModel>(prior);
}

}  // namespace

std::vector<Index> closing_features(const Fields& obs) {
  const std::string family = obs.text("family");
  if (family == "binomial_regression" || family == "negbinomial_regression")
    return closing_features_of_glm(obs);
  return {};
}

std::unique_ptr<AllocModel> make_alloc_model(const Fields& f, const Sparsity& sparsity, RowBound bound,
                                             const Fields* response) {
  const std::string family = f.text("family");
  if (family == "dp") return make_sticks(f, 0, sparsity);
  if (family == "py") return make_sticks(f, f.number("discount"), sparsity);
  if (family == "dirichlet")
    return mixtures::make_dirichlet(f.integer("k"), f.number("concentration"), sparsity);
  if (family == "covariates") return make_tilted_weights(f, sparsity);
  if (family == "hmm_covariates") return make_tilted_hmm(f, bound, sparsity);
  if (family == "hdp_hmm") return chains::make_hdp_hmm(hmm_prior(f), top_concentration(f), bound, sparsity);
  if (family == "hmm") return chains::make_hmm(hmm_prior(f, f.number("k")), f.integer("k"), sparsity);
  if (family == "hdp")
    return topics::make_hdp_topics(top_concentration(f), concentration(f, "alpha"), bound, sparsity,
                                   make_response_model(response));
  if (family == "topic_covariates") return make_tilted_proportions(f, sparsity);
  if (family == "lda")
    return topics::make_lda(f.integer("k"), concentration(f, "alpha", f.number("k")), sparsity,
                            make_response_model(response));
  throw std::invalid_argument("unknown allocation model: " + family);
}

mixtures::PartitionPrior make_partition_prior(const Fields& f) {
  const std::string family = f.text("family");
  if (family == "dirichlet")
    return mixtures::PartitionPrior::of_at_most(f.integer("k"), f.number("concentration"));
  if (family != "dp" && family != "py")
    throw std::invalid_argument("internal error: no prior of partitions: " + family);
  const double discount = family == "py" ? f.number("discount") : 0;
  if (const auto prior = gamma_prior(f, "concentration")) return {prior->mean(), discount, prior};
  return {f.number("concentration"), discount, {}};
}

topics::TopicPrior make_topic_prior(const Fields& f) {
  const std::string family = f.text("family");
  if (family != "hdp" && family != "lda")
    throw std::invalid_argument("internal error: no prior of topics: " + family);
  if (family == "lda") return {f.integer("k"), {}, gamma_prior(f, "alpha")};
  return {0, gamma_prior(f, "gamma"), gamma_prior(f, "alpha")};
}

namespace {

chains::PathPrior path_prior(const Fields& f) {
  const bool finite = f.text("family") == "hmm";
  chains::PathPrior out;
  if (finite) {
    out.most_states = f.integer("k");
  } else if (const auto prior = gamma_prior(f, "gamma")) {
    out.gamma = {prior->mean(), prior};
  } else {
    out.gamma = {f.number("gamma")};
  }
  const auto sampled = [](const Concentration& c) {
    return chains::SampledConcentration{c.value, c.prior, c.least, most_concentrated};
  };
  const chains::HmmPrior rows = hmm_prior(f, finite ? f.number("k") : 1);
  out.alpha = sampled(rows.alpha);
  out.start = sampled(rows.start);
  out.sticky = sampled(rows.sticky);
  return out;
}

chains::PlacePrior place_prior(const Fields& f) {
  const chains::PathPrior rows = path_prior(f);
  return {rows.most_states, rows.alpha, rows.start, rows.sticky, hmm_prior(f, f.number("k")).pattern};
}

// For tests: which steps a sweep consists of.
chains::PathStep path_step(const Fields& f) {
  if (!f.has("step")) return chains::PathStep::all;
  const std::string step = f.text("step");
  return step == "rows"     ? chains::PathStep::rows
         : step == "splits" ? chains::PathStep::splits
                            : chains::PathStep::sequences;
}

}  // namespace

std::unique_ptr<Target> make_target(const Fields& f, const ObsModel& obs, const Dataset& data,
                                    Index split_merge) {
  const std::string family = f.text("family");
  if (f.has("cell_fixed")) return chains::make_place_target(obs, data, place_prior(f));
  if (family == "hdp" || family == "lda") return topics::make_topic_target(obs, data, make_topic_prior(f));
  if (family == "hdp_hmm" || family == "hmm")
    return chains::make_path_target(obs, data, path_prior(f), split_merge, path_step(f));
  return mixtures::make_partition_target(obs, data, make_partition_prior(f), split_merge);
}

}  // namespace bnpvi
