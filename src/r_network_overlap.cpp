// Overlapping communities of networks: their fits, and other entries.
#include "r_network_overlap.h"
#include "networks/assortative_blocks.h"
#include "networks/gamma_network.h"
#include "networks/general_blocks.h"
#include "networks/learn_overlap.h"
#include "networks/profile.h"

using namespace bnpvi;

using Rcpp::_;

namespace {

Rcpp::NumericVector named_terms(const networks::Overlap& state) {
  Rcpp::NumericVector out;
  for (const auto& [name, value] : state.terms()) out.push_back(value, name);
  return out;
}

}  // namespace

OverlapModel::OverlapModel(const Rcpp::List& model)
    : fields(model),
      blocks(fields.flag("counts"), fields.number("a"), fields.number("b")),
      background(fields.flag("counts"), fields.number("a_background"), fields.number("b_background")) {}

std::unique_ptr<networks::Overlap> OverlapModel::start(const Links& links,
                                                       const Rcpp::NumericMatrix& share) const {
  require(share.nrow() == links.n() && share.ncol() > 0, "there is not a row for each node");
  const networks::Shares from{share.ncol(), rows_from_r(share), owners_from_r(share, share.ncol())};
  const double gamma = fields.number("gamma"), alpha = fields.number("alpha");
  if (fields.flag("degree")) {
    const networks::GammaPriors priors{gamma,
                                       alpha,
                                       blocks.a(),
                                       blocks.b(),
                                       background.a(),
                                       background.b(),
                                       fields.flag("counts"),
                                       fields.number("dense")};
    return std::make_unique<networks::GammaNetwork>(links, priors, from);
  }
  if (fields.flag("assortative"))
    return std::make_unique<networks::AssortativeBlocks>(links, blocks, background, gamma, alpha, from);
  return std::make_unique<networks::GeneralBlocks>(links, blocks, gamma, alpha, from);
}

Rcpp::List bnpvi::overlap_to_r(const networks::Overlap& state) {
  const Index n = state.links().n(), k = state.k();
  Vec prob, ends(static_cast<std::size_t>(n * k));
  for (Index i = 0; i < n; ++i) {
    const Vec row = state.proportions(i);
    prob.insert(prob.end(), row.begin(), row.end());
    for (const networks::Ends& end : state.ends(i)) ends[i * k + end.k] = end.value;
  }
  Rcpp::List params;
  for (const auto& array : state.arrays())
    params.push_back(
        matrix_to_r(array.value, static_cast<Index>(array.value.size()) / array.columns, array.columns),
        array.name);
  const WeightMoments pi = weight_moments(state.sticks());
  Rcpp::List out = Rcpp::List::create(
      _["k"] = k, _["prob"] = matrix_to_r(prob, n, k), _["ends"] = matrix_to_r(ends, n, k),
      _["rates"] = state.rates(), _["weights"] = pi.mean, _["u"] = state.sticks().u,
      _["omega"] = state.sticks().omega, _["params"] = params, _["terms"] = named_terms(state));
  if (state.links().labelled()) out["owner"] = state.owner();
  return out;
}

namespace {

// Overlapping communities that start from shares of the nodes (n × K).
class OverlapFamily final : public NetworkFamily {
 public:
  explicit OverlapFamily(const FitCall& call) : NetworkFamily(call), model_(call.model) {}

  Rcpp::List result(const Restarted& run) override {
    const networks::Overlap& state = stochastic()
                                         ? static_cast<const networks::SampledOverlap&>(*run.best.fit).state()
                                         : static_cast<const networks::OverlapFit&>(*run.best.fit).state();
    return made_in_r([&] {
      Rcpp::List out = overlap_to_r(state);
      out.push_back(state.bound(), "elbo");
      return out;
    });
  }

 private:
  std::unique_ptr<networks::NetworkFit> fit_from(SEXP given, std::uint64_t seed) const override {
    std::unique_ptr<networks::Overlap> start = model_.start(links_, Rcpp::NumericMatrix(given));
    if (stochastic())
      return std::make_unique<networks::SampledOverlap>(std::move(start), sampled(seed), call_.pool);
    auto options = searched<networks::OverlapOptions>(seed);
    options.reorder = asked_.moves.reorder;
    options.disturbances = fields_.integer("disturbances");
    options.large = fields_.number("large");
    options.beat = fields_.number("beat");
    return std::make_unique<networks::OverlapFit>(std::move(start), options, call_.pool);
  }

  const OverlapModel model_;
};

}  // namespace

std::unique_ptr<RFamily> bnpvi::family_of_communities(const FitCall& call) {
  return std::make_unique<OverlapFamily>(call);
}

// best_profile(), started at rho.
// [[Rcpp::export]]
Rcpp::NumericVector engine_network_profile(double n0, Rcpp::NumericVector g, Rcpp::NumericVector e,
                                           Rcpp::NumericVector p, Rcpp::NumericVector rho) {
  require(g.size() == rho.size() && e.size() == rho.size() && p.size() == rho.size(),
          "a profile has not one number of each kind for each community");
  Vec out(rho.begin(), rho.end());
  networks::best_profile(n0, g.begin(), e.begin(), p.begin(), rho.size(), out.data());
  return Rcpp::wrap(out);
}
