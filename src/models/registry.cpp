#include "models/registry.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "chains/hmm.h"
#include "chains/path_sampler.h"
#include "mixtures/concentration_posterior.h"
#include "mixtures/mixture.h"
#include "mixtures/partition_sampler.h"
#include "observations/obs_product.h"
#include "observations/partly_observed.h"
#include "observations/repeated_rows.h"
#include "topics/topic_model.h"
#include "topics/topic_sampler.h"

namespace bnpvi {

namespace {
Index size_of(const Vec& x) { return static_cast<Index>(x.size()); }

// A number for each column; of this field the model learns how many there are.
Vec of_columns(const Fields& f, const char* name) {
  Vec out = f.numbers(name);
  if (out.empty()) throw std::invalid_argument(std::string("internal error: field ") + name + " is empty");
  return out;
}

// Shape and rate of the Gamma prior of a concentration that is integrated; a number has none.
std::optional<GammaPrior> gamma_prior(const Fields& f, const char* name) {
  if (size_of(f.numbers(name)) == 1) return std::nullopt;
  const Vec prior = f.numbers(name, 2);
  return GammaPrior{prior[0], prior[1]};
}

// d: columns; size: numbers of `scale`; has_mean: it is not known to be zero. Learned where the fields are
// there that say about what.
GaussianPrior gaussian_prior(const Fields& f, Index d, Index size, bool has_mean) {
  GaussianPrior out{{},
                    1,
                    f.number("df"),
                    f.numbers("scale", size),
                    Vec(static_cast<std::size_t>(d), 0.0),
                    f.numbers("unit", d),
                    {},
                    {},
                    f.optional_flag("gaps")};
  if (has_mean) {
    out.mean = f.numbers("mean", d);
    out.mean_strength = f.number("mean_strength");
    out.centre = f.numbers("centre", d);
  }
  if (!f.has("data_variance")) return out;
  out.data_variance = f.numbers("data_variance", d);
  if (has_mean) out.data_location = f.numbers("data_location", d);
  return out;
}

// size: numbers of `variance`.
TiedPrior tied_prior(const Fields& f, TiedShape shape, Index d, Index size) {
  return {shape,
          f.numbers("mean", d),
          f.number("mean_strength"),
          f.numbers("variance", size),
          f.numbers("centre", d),
          f.numbers("unit", d),
          f.has("data_variance") ? f.numbers("data_variance", d) : Vec{},
          f.has("from_one")};
}

std::unique_ptr<AllocModel> make_sticks(const Fields& f, double discount, const Sparsity& sparsity) {
  if (const auto prior = gamma_prior(f, "concentration"))
    return mixtures::make_pitman_yor(*prior, discount, sparsity);
  return mixtures::make_pitman_yor(f.number("concentration"), discount, sparsity);
}

TopConcentration top_concentration(const Fields& f) {
  const auto prior = gamma_prior(f, "gamma");
  return prior ? TopConcentration(*prior) : TopConcentration(f.number("gamma"));
}

// The least values are those of parameter_ranges in R/check.R, of each of k clusters if their number is
// fixed.
Concentration concentration(const Fields& f, const char* name, double k = 1) {
  return make_concentration(f.numbers(name), 1e-8 * k);
}

chains::HmmPrior hmm_prior(const Fields& f, double k = 1) {
  return {concentration(f, "alpha", k), concentration(f, "start", k),
          make_concentration(f.numbers("sticky"), 1e-50), f.has("positions") ? f.integer("positions") : 1};
}

// The model itself, or for rows that may lack cells.
std::unique_ptr<ObsModel> as_observed(const Fields& f, std::unique_ptr<ObsModel> model) {
  if (!f.optional_flag("gaps")) return model;
  const std::shared_ptr<const ObsModel> complete = std::move(model);
  return make_partly_observed(std::dynamic_pointer_cast<const WishartModel>(complete));
}

std::unique_ptr<ObsModel> make_model_of_rows(const Fields& f) {
  const std::string family = f.text("family");
  if (family == "multinomial") {
    const Vec prior = of_columns(f, "term_prior");
    if (!f.has("term_share")) return make_multinomial({prior, {}, 0, 0});
    return make_multinomial({prior, f.numbers("term_share", size_of(prior)), f.number("term_prior_even"),
                             f.number("term_prior_common")});
  }
  if (family == "bernoulli") {
    const Vec a = of_columns(f, "a");
    return make_bernoulli({a, f.numbers("b", size_of(a)), f.has("learn"), f.optional_flag("gaps")});
  }
  if (family == "binomial") {
    const Vec a = of_columns(f, "a");
    return make_binomial({a, f.numbers("b", size_of(a))});
  }
  if (family == "poisson") {
    const Vec a = of_columns(f, "a");
    return make_poisson({a, f.numbers("b", size_of(a)), f.flag("exposed"), false, f.optional_flag("gaps")});
  }
  if (family == "censored") return make_poisson({f.numbers("a", 1), f.numbers("b", 1), false, true});
  if (family == "waiting_time") {
    const Vec a = of_columns(f, "a");
    return make_gamma(
        {f.numbers("shape", size_of(a)), a, f.numbers("b", size_of(a)), f.optional_flag("gaps")});
  }
  if (family == "categorical") {
    CategoricalPrior prior{{}, f.numbers("concentration"), {}, {}, {}};
    Index total = 0;
    for (double levels : f.numbers("n_levels")) {
      prior.levels.push_back(static_cast<Index>(levels));
      total += prior.levels.back();
    }
    if (total != size_of(prior.weight))
      throw std::invalid_argument("internal error: field concentration has not a number for each level");
    if (f.has("level_share")) {
      prior.share = f.numbers("level_share", total);
      prior.even = f.numbers("prior_even", static_cast<Index>(prior.levels.size()));
      prior.common = f.numbers("prior_common", static_cast<Index>(prior.levels.size()));
    }
    return make_categorical(prior);
  }
  if (family == "product") {
    std::vector<ProductBlock> blocks;
    for (const auto& [name, fields] : f.lists("blocks")) blocks.push_back({name, make_obs_model(*fields)});
    return make_product(std::move(blocks));
  }
  const Vec unit = f.numbers("unit");
  const Index d = size_of(unit);
  if (f.has("drift")) {
    const bool full = family == "gaussian_full";
    return make_gaussian_drift({gaussian_prior(f, d, full ? d * d : d, true), full, f.number("drift"),
                                f.numbers("gap"), f.optional_flag("learn_drift")});
  }
  if (family == "gaussian_full") return as_observed(f, make_gaussian_full(gaussian_prior(f, d, d * d, true)));
  if (family == "gaussian_diagonal") return make_gaussian_diagonal(gaussian_prior(f, d, d, true));
  if (family == "gaussian_spherical") return make_gaussian_spherical(gaussian_prior(f, d, 1, true));
  if (family == "gaussian_tied_spherical")
    return make_gaussian_tied(tied_prior(f, TiedShape::spherical, d, 1));
  if (family == "gaussian_tied_diagonal") return make_gaussian_tied(tied_prior(f, TiedShape::diagonal, d, d));
  if (family == "gaussian_tied") return make_gaussian_tied(tied_prior(f, TiedShape::full, d, d * d));
  if (family == "gaussian_zero_mean")
    return as_observed(f, make_gaussian_zero_mean(gaussian_prior(f, d, d * d, false)));
  if (family == "ar") {
    return as_observed(f, make_ar(ar_prior(f, d, f.integer("lag"), "scale")));
  }
  if (family == "lds") return make_expected_ar(ar_prior(f, d, 1, "scale"));
  if (family == "regression") {
    const Index y = f.integer("responses"), covariates = d - y,
                e = covariates + (f.flag("intercept") ? 1 : 0);
    return as_observed(f,
                       make_regression({y, f.flag("intercept"), f.number("df"), f.numbers("scale", y * y),
                                        f.numbers("coef_mean", y * e), f.numbers("scaled_precision", e * e),
                                        f.numbers("origin", covariates), f.numbers("spread", covariates),
                                        f.numbers("centre", d), unit}));
  }
  throw std::invalid_argument("unknown observation model: " + family);
}

}  // namespace

ArPrior ar_prior(const Fields& f, Index d, Index lag, const char* scale) {
  const bool intercept = f.flag("intercept"), centred = f.has("centred_precision");
  const Index e = d * lag + (intercept ? 1 : 0);
  return {lag,
          intercept,
          f.number("df"),
          f.numbers(scale, d * d),
          f.numbers("coef_mean", d * e),
          f.numbers(centred ? "centred_precision" : "coef_precision", e * e),
          centred ? f.numbers("origin", d) : Vec(static_cast<std::size_t>(d), 0.0),
          f.numbers("centre", d),
          f.numbers("unit", d)};
}

std::unique_ptr<ObsModel> make_obs_model(const Fields& f) {
  std::unique_ptr<ObsModel> of_rows = make_model_of_rows(f);
  if (!f.optional_flag("repeated")) return of_rows;
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

std::unique_ptr<AllocModel> make_alloc_model(const Fields& f, const Sparsity& sparsity, RowBound bound,
                                             const Fields* response) {
  const std::string family = f.text("family");
  if (family == "dp") return make_sticks(f, 0, sparsity);
  if (family == "py") return make_sticks(f, f.number("discount"), sparsity);
  if (family == "dirichlet")
    return mixtures::make_dirichlet(f.integer("k"), f.number("concentration"), sparsity);
  if (family == "hdp_hmm") return chains::make_hdp_hmm(hmm_prior(f), top_concentration(f), bound, sparsity);
  if (family == "hmm") return chains::make_hmm(hmm_prior(f, f.number("k")), f.integer("k"), sparsity);
  if (family == "hdp")
    return topics::make_hdp_topics(top_concentration(f), concentration(f, "alpha"), bound, sparsity,
                                   make_response_model(response));
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

// For tests: which steps a sweep has.
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
  if (family == "hdp" || family == "lda") return topics::make_topic_target(obs, data, make_topic_prior(f));
  if (family == "hdp_hmm" || family == "hmm")
    return chains::make_path_target(obs, data, path_prior(f), split_merge, path_step(f));
  return mixtures::make_partition_target(obs, data, make_partition_prior(f), split_merge);
}

}  // namespace bnpvi
