// Entries of bnp_sample(): Markov chains over partitions.
#include <algorithm>

#include "mixtures/draw_predictives.h"
#include "r_convert.h"
#include "sampling/scaled_features.h"
#include "topics/model/tokens.h"

using namespace bnpvi;

namespace {

// A data set, with a model to be sampled on it.
struct Sampling {
  RData rdata;
  std::unique_ptr<ObsModel> obs;
  const Dataset& view;
  RMonitor monitor{R_NilValue};
  RPool pool;

  Sampling(const Rcpp::List& data, const Rcpp::List& model, int threads)
      : rdata(data),
        obs(make_obs_model(ListFields(Rcpp::List(model["obs"])))),
        view(rdata.view_for(*obs)),
        pool(threads, monitor) {
    const std::string prior = ListFields(Rcpp::List(model["prior"])).text("family");
    const bool of_mixture = prior == "dp" || prior == "py" || prior == "dirichlet";
    require(!obs->capabilities().cells || (of_mixture && hides_scales(*obs)),
            "rows with expected cells cannot be sampled");
    require(view.weight == nullptr && (view.classes == nullptr || prior == "hdp_hmm" || prior == "hmm"),
            "rows with weights cannot be sampled, nor those with labels but of sequences");
  }

  std::unique_ptr<Target> target(const Rcpp::List& model, Index split_merge) const {
    return make_target(ListFields(Rcpp::List(model["prior"])), *obs, view, split_merge);
  }
};

ChainState chain_from_r(const Rcpp::List& chain, const Target& target) {
  const Index n = target.n_observations();
  ChainState z;
  z.label = Rcpp::as<std::vector<int>>(chain["labels"]);
  if (chain.containsElementNamed("weights")) z.weight = Rcpp::as<Vec>(chain["weights"]);
  if (chain.containsElementNamed("scales")) z.scale = Rcpp::as<Vec>(chain["scales"]);
  z.concentration = Rcpp::as<Vec>(chain["concentration"]);
  z.sweeps = static_cast<Index>(Rcpp::as<double>(chain["sweeps"]));
  require(static_cast<Index>(z.label.size()) == n, "a chain has not one label for each observation");
  require(z.concentration.size() == target.concentrations().size(), "a chain has other concentrations");
  require(z.scale.empty() || static_cast<Index>(z.scale.size()) == n * target.n_scales(),
          "a chain has not the scales of each row");
  for (double u : z.scale) require(u > 0, "a chain's scales are not positive");
  for (int& label : z.label)
    require(--label >= 0 && label < target.most_clusters(), "a chain's labels are not 1 to K");
  return z;
}

std::vector<int> from_one(std::vector<int> label) {
  for (int& l : label) ++l;
  return label;
}

Rcpp::List chain_to_r(const ChainState& z, std::uint64_t number, const Target& target) {
  Rcpp::NumericVector concentration(z.concentration.begin(), z.concentration.end());
  concentration.names() = Rcpp::wrap(target.concentrations());
  using Rcpp::_;
  return Rcpp::List::create(_["labels"] = from_one(z.label), _["weights"] = z.weight, _["scales"] = z.scale,
                            _["concentration"] = concentration, _["sweeps"] = static_cast<double>(z.sweeps),
                            _["number"] = static_cast<double>(number));
}

Rcpp::NumericMatrix records_to_r(const std::vector<Vec>& records, const Target& target) {
  const std::vector<std::string> names = target.recorded();
  Rcpp::NumericMatrix out(static_cast<int>(records.size()), static_cast<int>(names.size()));
  for (int i = 0; i < out.nrow(); ++i)
    for (int j = 0; j < out.ncol(); ++j) out(i, j) = records[i][j];
  Rcpp::colnames(out) = Rcpp::wrap(names);
  return out;
}

}  // namespace

// Runs `sweeps` more sweeps of each chain, list(labels, weights, scales, concentration, sweeps, number);
// weights and scales are optional. Returns labels of every `keep`-th sweep after the chain's warm-up, n ×
// draws, and scales of rows, (n × scales of a row) × draws; none if keep = 0.
// [[Rcpp::export]]
Rcpp::List engine_sample(Rcpp::List data, Rcpp::List model, Rcpp::List chains, double sweeps, double keep,
                         double warmup, int split_merge, double seed, int threads) {
  return entry([&] {
    Sampling in(data, model, threads);
    const auto target = in.target(model, split_merge);
    const Index n_chains = chains.size(), n_sweeps = static_cast<Index>(sweeps),
                every = static_cast<Index>(keep), first = static_cast<Index>(warmup);
    std::vector<ChainState> at;
    std::vector<std::uint64_t> number;
    for (Index c = 0; c < n_chains; ++c) {
      const Rcpp::List chain(VECTOR_ELT(chains, c));
      at.push_back(chain_from_r(chain, *target));
      number.push_back(static_cast<std::uint64_t>(Rcpp::as<double>(chain["number"])));
    }
    std::vector<std::vector<Vec>> records(static_cast<std::size_t>(n_chains));
    std::vector<std::vector<std::vector<int>>> kept(static_cast<std::size_t>(n_chains));
    std::vector<std::vector<Vec>> kept_scales(static_cast<std::size_t>(n_chains));
    in.pool.run(n_chains, [&](Index c) {
      const auto sampler = target->sampler(in.pool);
      for (Index s = 0; s < n_sweeps; ++s) {
        records[c].push_back(sampler->sweep(at[c], static_cast<std::uint64_t>(seed), number[c]));
        if (every == 0 || (at[c].sweeps - first) % every != 0) continue;
        kept[c].push_back(from_one(at[c].label));
        kept_scales[c].push_back(at[c].scale);
      }
    });
    return made_in_r([&] {
      Rcpp::List out(static_cast<int>(n_chains));
      for (int c = 0; c < out.size(); ++c) {
        Rcpp::IntegerMatrix labels(static_cast<int>(target->n_observations()),
                                   static_cast<int>(kept[c].size()));
        for (std::size_t i = 0; i < kept[c].size(); ++i)
          std::copy(kept[c][i].begin(), kept[c][i].end(), labels.column(static_cast<int>(i)).begin());
        Rcpp::NumericMatrix scales(static_cast<int>(target->n_observations() * target->n_scales()),
                                   labels.ncol());
        for (std::size_t i = 0; i < kept_scales[c].size(); ++i)
          std::copy(kept_scales[c][i].begin(), kept_scales[c][i].end(),
                    scales.column(static_cast<int>(i)).begin());
        Rcpp::List chain = chain_to_r(at[c], number[c], *target);
        chain.push_back(records_to_r(records[c], *target), "records");
        chain.push_back(labels, "kept");
        chain.push_back(scales, "kept_scales");
        out[c] = chain;
      }
      return out;
    });
  });
}

// Initial states of chains with these numbers: each observation is drawn given those before it. Labels are
// missing if no draw was compatible with the known labels. `log_evidence`: for each chain a number whose
// exponential has the mean p(x), or NaN.
// [[Rcpp::export]]
Rcpp::List engine_draw_in_sequence(Rcpp::List data, Rcpp::List model, Rcpp::NumericVector numbers,
                                   Rcpp::NumericVector concentration, double seed, int threads) {
  return entry([&] {
    Sampling in(data, model, threads);
    const auto target = in.target(model, 0);
    const Index m = numbers.size();
    ChainState first;
    first.concentration = Rcpp::as<Vec>(concentration);
    std::vector<ChainState> z(static_cast<std::size_t>(m), first);
    Vec log_evidence(static_cast<std::size_t>(m));
    in.pool.run(m, [&](Index c) {
      const auto sampler = target->sampler(in.pool);
      Stream stream(static_cast<std::uint64_t>(seed), Purpose::first_draw,
                    static_cast<std::uint64_t>(numbers[c]));
      log_evidence[c] = sampler->draw_in_sequence(z[c], stream);
    });
    const double base =
        sum_log_base(*in.obs, in.view, modelled_rows(in.view.starts, in.obs->capabilities().lag), nullptr);
    return made_in_r([&] {
      using Rcpp::_;
      Rcpp::List labels(static_cast<int>(m)), weights(static_cast<int>(m));
      Rcpp::NumericVector log_p(static_cast<int>(m));
      for (int c = 0; c < labels.size(); ++c) {
        labels[c] = Rcpp::wrap(from_one(z[c].label));
        weights[c] = Rcpp::wrap(z[c].weight);
        log_p[c] = log_evidence[c] + base;
      }
      return Rcpp::List::create(_["labels"] = labels, _["weights"] = weights, _["log_evidence"] = log_p,
                                _["log_base"] = base);
    });
  });
}

// Initial labels 1 to K of chains with these numbers, drawn from probabilities (n × K): n × chains.
// [[Rcpp::export]]
Rcpp::IntegerMatrix engine_draw_labels(Rcpp::NumericMatrix prob, Rcpp::NumericVector numbers, double seed) {
  return entry([&] {
    Rcpp::IntegerMatrix out(prob.nrow(), static_cast<int>(numbers.size()));
    Vec weight(static_cast<std::size_t>(prob.ncol()));
    for (int c = 0; c < out.ncol(); ++c) {
      Stream stream(static_cast<std::uint64_t>(seed), Purpose::first_draw,
                    static_cast<std::uint64_t>(numbers[c]));
      for (int i = 0; i < out.nrow(); ++i) {
        std::copy(prob.row(i).begin(), prob.row(i).end(), weight.begin());
        out(i, c) = static_cast<int>(std::max<Index>(draw(weight, stream), 0)) + 1;
      }
    }
    return out;
  });
}

// The same for the tokens of documents of counts, in the order of the stored entries: a token of word w in
// document d gets label k with probability proportional to theta_dk phi_kw (theta D × K, phi K × V).
// [[Rcpp::export]]
Rcpp::IntegerMatrix engine_draw_token_labels(Rcpp::List data, Rcpp::NumericMatrix theta,
                                             Rcpp::NumericMatrix phi, Rcpp::NumericVector numbers,
                                             double seed) {
  return entry([&] {
    const RData rdata(data);
    const topics::Tokens tokens(rdata.view());
    const int k = theta.ncol();
    require(phi.nrow() == k && phi.ncol() == rdata.view().d && theta.nrow() == rdata.view().n,
            "proportions are not those of the documents");
    Rcpp::IntegerMatrix out(static_cast<int>(tokens.n()), static_cast<int>(numbers.size()));
    Vec weight(static_cast<std::size_t>(k));
    for (int c = 0; c < out.ncol(); ++c) {
      Stream stream(static_cast<std::uint64_t>(seed), Purpose::first_draw,
                    static_cast<std::uint64_t>(numbers[c]));
      for (int d = 0; d < theta.nrow(); ++d)
        for (Index i = tokens.starts[d]; i < tokens.starts[d + 1]; ++i) {
          if (i % (1 << 18) == 0) Rcpp::checkUserInterrupt();  // every few milliseconds: a guess
          for (int j = 0; j < k; ++j) weight[j] = theta(d, j) * phi(j, tokens.word[i]);
          out(static_cast<int>(i), c) = static_cast<int>(std::max<Index>(draw(weight, stream), 0)) + 1;
        }
    }
    return out;
  });
}

// Predictions for new rows under draws of partitions of the rows of `data` (labels, n × M) and, in models
// with unobserved scales, of these (n·scales × M): log of the mean predictive density, and the probability of
// being in a cluster with a row of each cluster of `point`.
// [[Rcpp::export]]
Rcpp::List engine_draw_predictives(Rcpp::List data, Rcpp::List newdata, Rcpp::List model,
                                   Rcpp::IntegerMatrix draws, Rcpp::NumericMatrix scales,
                                   Rcpp::NumericVector concentration, Rcpp::IntegerVector point,
                                   int threads) {
  return entry([&] {
    Sampling in(data, model, threads);
    RData new_rdata(newdata);
    const Dataset& new_view = new_rdata.view_for(*in.obs);
    const RowFeatures plain(*in.obs, in.view);
    std::unique_ptr<ScaledFeatures> scaled;
    if (hidden_scales(*in.obs)) scaled = std::make_unique<ScaledFeatures>(*in.obs, plain);
    const RowFeatures& rows = scaled ? scaled->rows() : plain;
    const RowFeatures new_rows(*in.obs, new_view);
    require(draws.nrow() == rows.n() && point.size() == rows.n() && concentration.size() == draws.ncol(),
            "draws are not those of the data");
    if (scaled)
      require(scales.nrow() == rows.n() * scaled->n_scales() && scales.ncol() == draws.ncol(),
              "draws have not the scales of the rows");
    std::vector<int> of_point(point.begin(), point.end());
    for (int& cluster : of_point) --cluster;
    mixtures::DrawPredictives predictives(*in.obs, rows, of_point, new_rows);
    std::vector<int> label(static_cast<std::size_t>(draws.nrow()));
    for (int m = 0; m < draws.ncol(); ++m) {
      for (int i = 0; i < draws.nrow(); ++i) label[i] = draws(i, m) - 1;
      mixtures::PartitionPrior prior = make_partition_prior(ListFields(Rcpp::List(model["prior"])));
      prior.concentration = concentration[m];
      if (scaled) scaled->give_all(scales.column(m).begin());
      predictives.add(label, prior, in.pool);
    }
    Vec base(static_cast<std::size_t>(new_rows.n()));
    base_of(*in.obs).log_base(new_view, new_rows.rows().data(), new_rows.n(), base.data());
    const Vec log_density = predictives.log_density();
    return made_in_r([&] {
      Rcpp::NumericVector density(static_cast<int>(new_view.n), NA_REAL);
      Rcpp::NumericMatrix prob(static_cast<int>(new_view.n), static_cast<int>(predictives.k()));
      std::fill(prob.begin(), prob.end(), NA_REAL);
      for (Index i = 0; i < new_rows.n(); ++i) {
        const int row = static_cast<int>(new_rows.rows()[i]);
        density[row] = log_density[i] + base[i];
        for (int a = 0; a < prob.ncol(); ++a) prob(row, a) = predictives.together()[i * predictives.k() + a];
      }
      return Rcpp::List::create(Rcpp::_["logdensity"] = density, Rcpp::_["prob"] = prob);
    });
  });
}
