#include "models/registry.h"

#include <stdexcept>

#include "chains/hmm.h"
#include "mixtures/mixture.h"
#include "observations/obs_models.h"
#include "topics/topic_model.h"

namespace bnpvi {

std::unique_ptr<ObsModel> make_obs_model(const Fields& f) {
  const std::string family = f.text("family");
  if (family == "gaussian_full")
    return make_gaussian_full({f.numbers("mean"), f.number("mean_strength"), f.number("df"),
                               f.numbers("scale"), f.numbers("centre"), f.numbers("unit")});
  if (family == "gaussian_diagonal")
    return make_gaussian_diagonal({f.numbers("mean"), f.number("mean_strength"), f.number("df"),
                                   f.numbers("scale"), f.numbers("centre"), f.numbers("unit")});
  if (family == "gaussian_zero_mean")
    return make_gaussian_zero_mean({f.number("df"), f.numbers("scale"), f.numbers("unit")});
  if (family == "ar")
    return make_ar({f.integer("lag"), f.flag("intercept"), f.number("df"), f.numbers("scale"),
                    f.numbers("coef_mean"), f.numbers("coef_precision"), f.numbers("centre"),
                    f.numbers("unit")});
  if (family == "multinomial") {
    if (!f.has("term_share")) return make_multinomial({f.numbers("term_prior"), {}, 0, 0});
    return make_multinomial({f.numbers("term_prior"), f.numbers("term_share"), f.number("term_prior_even"),
                             f.number("term_prior_common")});
  }
  if (family == "bernoulli") return make_bernoulli({f.numbers("a"), f.numbers("b")});
  if (family == "poisson") return make_poisson({f.numbers("a"), f.numbers("b"), f.flag("exposed")});
  throw std::invalid_argument("unknown observation model: " + family);
}

std::unique_ptr<AllocModel> make_alloc_model(const Fields& f, const Sparsity& sparsity) {
  const std::string family = f.text("family");
  if (family == "dp") return mixtures::make_dp(f.number("concentration"), sparsity);
  if (family == "dirichlet")
    return mixtures::make_dirichlet(f.integer("k"), f.number("concentration"), sparsity);
  if (family == "hdp_hmm")
    return chains::make_hdp_hmm({f.number("alpha"), f.number("start"), f.number("sticky")}, f.number("gamma"),
                                sparsity);
  if (family == "hmm")
    return chains::make_hmm({f.number("alpha"), f.number("start"), f.number("sticky")}, f.integer("k"),
                            sparsity);
  if (family == "hdp") return topics::make_hdp_topics(f.number("gamma"), f.number("alpha"), sparsity);
  if (family == "lda") return topics::make_lda(f.integer("k"), f.number("alpha"), sparsity);
  throw std::invalid_argument("unknown allocation model: " + family);
}

}  // namespace bnpvi
