// Blockmodels of networks: their fits, and other entries.
#include <algorithm>
#include <numeric>

#include "networks/bisection.h"
#include "networks/learn_blocks.h"
#include "networks/modularity.h"
#include "networks/partition_search.h"
#include "r_network.h"

using namespace bnpvi;
using networks::BlockBound;
using Rcpp::_;

namespace bnpvi {

std::vector<int> labels_from_r(const Rcpp::IntegerVector& labels, Index n) {
  require(labels.size() == n, "a partition has not one label for each node");
  std::vector<int> out(labels.begin(), labels.end());
  for (int& label : out) require(--label >= 0, "labels are not 1 to K");
  return out;
}

Owners owners_from_r(const Rcpp::RObject& start, Index k) {
  if (!start.hasAttribute("owner")) return Owners(static_cast<std::size_t>(k));
  Owners out = Rcpp::as<Owners>(start.attr("owner"));
  require(static_cast<Index>(out.size()) == k, "there is not an owner for each community");
  return out;
}

OwnedLabels owned_labels_from_r(const Rcpp::IntegerVector& start, const Links& links) {
  std::vector<int> labels = labels_from_r(start, links.n());
  const int k = labels.empty() ? 0 : 1 + *std::max_element(labels.begin(), labels.end());
  Owners owner = owners_from_r(start, k);
  for (Index i = 0; i < links.n(); ++i)
    require(links.allows(i, owner[labels[i]]), "a node starts in a community of another class");
  return {std::move(labels), std::move(owner)};
}

Rcpp::IntegerVector labels_to_r(const std::vector<int>& labels) {
  Rcpp::IntegerVector out(labels.begin(), labels.end());
  return out + 1;
}

Rcpp::NumericVector bound_to_r(const BlockBound& b, bool degrees) {
  Rcpp::NumericVector out = Rcpp::NumericVector::create(
      _["data"] = b.data, _["base"] = b.base, _["allocation"] = b.allocation, _["entropy"] = b.entropy);
  if (degrees) out.push_back(b.degrees, "degrees");
  return out;
}

std::unique_ptr<networks::Degrees> degrees_from_r(const Rcpp::List& model, const Links& links) {
  const ListFields fields(model);
  if (!fields.has("degree") || !fields.flag("degree")) return nullptr;
  require(fields.flag("counts") && !links.directed(), "degrees are for undirected links that are counts");
  return std::make_unique<networks::Degrees>(links);
}

}  // namespace bnpvi

namespace {

// Blockmodels that start from labels (from 1).
class BlocksFamily final : public NetworkFamily {
 public:
  explicit BlocksFamily(const FitCall& call)
      : NetworkFamily(call),
        model_(link_model_from_r(call.model)),
        gamma_(ListFields(call.model).number("gamma")),
        degrees_(degrees_from_r(call.model, links_)),
        sampled_(!degrees_ && stochastic()) {}

  Rcpp::List result(const Restarted& run) override {
    const networks::Blocks fit = sampled_
                                     ? static_cast<const networks::SampledBlocks&>(*run.best.fit).result()
                                     : static_cast<const networks::BlocksFit&>(*run.best.fit).result();
    return made_in_r([&] {
      Rcpp::List out = Rcpp::List::create(
          _["k"] = fit.k, _["labels"] = labels_to_r(fit.labels), _["log_joint"] = fit.log_joint,
          _["prob"] = matrix_to_r(fit.r, links_.n(), fit.k), _["sizes"] = fit.sizes,
          _["pairs"] = matrix_to_r(fit.n, fit.k, fit.k), _["sum"] = matrix_to_r(fit.s, fit.k, fit.k),
          _["elbo"] = fit.bound.sum(), _["terms"] = bound_to_r(fit.bound, degrees_ != nullptr));
      if (degrees_)
        out["degrees"] = Rcpp::List::create(_["ends"] = degrees_->ends(), _["lent"] = degrees_->lent());
      if (links_.labelled()) out["owner"] = fit.owner;
      return out;
    });
  }

 private:
  std::unique_ptr<networks::NetworkFit> fit_from(SEXP start, std::uint64_t seed) const override {
    OwnedLabels from = owned_labels_from_r(Rcpp::IntegerVector(start), links_);
    if (sampled_)
      return std::make_unique<networks::SampledBlocks>(links_, model_, gamma_, from.label, sampled(seed),
                                                       call_.pool);
    return std::make_unique<networks::BlocksFit>(links_, model_, degrees_.get(), gamma_, std::move(from),
                                                 searched<networks::SearchOptions>(seed), call_.pool);
  }

  const LinkModel model_;
  const double gamma_;
  const std::unique_ptr<const networks::Degrees> degrees_;
  const bool sampled_;
};

}  // namespace

std::unique_ptr<RFamily> bnpvi::family_of_blocks(const FitCall& call) {
  return std::make_unique<BlocksFamily>(call);
}

// Divides nodes into k groups with many links within groups; returns labels from 1.
// [[Rcpp::export]]
Rcpp::IntegerVector engine_network_divided(Rcpp::List data, int k, double seed) {
  return entry([&] {
    Links links = links_from_r(data);
    require(k >= 1 && k <= links.n(), "there are fewer nodes than groups");
    RMonitor monitor{R_NilValue};
    RPool pool(1, monitor);
    links.poll_by([&] { pool.poll(); });
    constexpr int tries = 4;  // number of attempts: a guess
    Stream stream(static_cast<std::uint64_t>(seed), Purpose::initial_seeds);
    return labels_to_r(networks::divided(links, k, tries, stream));
  });
}

// Groups of nodes by modularity, whose number is found; returns labels from 1.
// [[Rcpp::export]]
Rcpp::IntegerVector engine_network_modularity(Rcpp::List data, double seed) {
  return entry([&] {
    Links links = links_from_r(data);
    RMonitor monitor{R_NilValue};
    RPool pool(1, monitor);
    links.poll_by([&] { pool.poll(); });
    Stream stream(static_cast<std::uint64_t>(seed), Purpose::initial_seeds);
    return labels_to_r(networks::modularity_groups(links, stream));
  });
}
