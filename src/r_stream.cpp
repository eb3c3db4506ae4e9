// Entry of truncation-free learning.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "inference/source.h"
#include "mixtures/truncation_free.h"
#include "r_convert.h"

using namespace bnpvi;

namespace {

using Numbers = Rcpp::NumericVector;

mixtures::RunningClusters clusters_from_r(const Rcpp::List& list, Index p) {
  mixtures::RunningClusters c;
  c.t = Rcpp::as<Vec>(list["t"]);
  const Vec id = Rcpp::as<Vec>(list["id"]), born_at = Rcpp::as<Vec>(list["born_at"]),
            last_seen = Rcpp::as<Vec>(list["last_seen"]);
  const auto lasting = Rcpp::as<std::vector<int>>(list["lasting"]);
  require(born_at.size() == id.size() && last_seen.size() == id.size() && lasting.size() == id.size() &&
              c.t.size() == id.size() * static_cast<std::size_t>(p),
          "a stream's clusters have not the statistics of the model");
  for (std::size_t j = 0; j < id.size(); ++j)
    c.identity.push_back({static_cast<std::uint64_t>(id[j]), born_at[j], last_seen[j], lasting[j] != 0});
  c.next_id = static_cast<std::uint64_t>(Rcpp::as<double>(list["next_id"]));
  c.batches = static_cast<std::uint64_t>(Rcpp::as<double>(list["batches"]));
  c.seen = Rcpp::as<double>(list["seen"]);
  c.untended = Rcpp::as<double>(list["untended"]);
  c.concentration = Rcpp::as<double>(list["concentration"]);
  c.recent = Rcpp::as<Vec>(list["recent"]);
  require(c.recent.size() % static_cast<std::size_t>(p) == 0, "a stream's latest rows are not whole");
  return c;
}

Numbers identities(const std::vector<mixtures::ClusterIdentity>& clusters,
                   double (*field)(const mixtures::ClusterIdentity&)) {
  Numbers out(static_cast<int>(clusters.size()));
  std::transform(clusters.begin(), clusters.end(), out.begin(), field);
  return out;
}
double id_of(const mixtures::ClusterIdentity& c) { return static_cast<double>(c.id); }
double birth_of(const mixtures::ClusterIdentity& c) { return c.born_at; }
double sight_of(const mixtures::ClusterIdentity& c) { return c.last_seen; }

Rcpp::LogicalVector which_last(const std::vector<mixtures::ClusterIdentity>& clusters) {
  Rcpp::LogicalVector out(static_cast<int>(clusters.size()));
  std::transform(clusters.begin(), clusters.end(), out.begin(),
                 [](const mixtures::ClusterIdentity& c) { return c.lasting; });
  return out;
}

Rcpp::List clusters_to_r(const mixtures::RunningClusters& c) {
  using Rcpp::_;
  return Rcpp::List::create(
      _["t"] = Numbers(c.t.begin(), c.t.end()), _["id"] = identities(c.identity, id_of),
      _["born_at"] = identities(c.identity, birth_of), _["last_seen"] = identities(c.identity, sight_of),
      _["lasting"] = which_last(c.identity), _["next_id"] = static_cast<double>(c.next_id),
      _["batches"] = static_cast<double>(c.batches), _["seen"] = c.seen, _["untended"] = c.untended,
      _["concentration"] = c.concentration, _["recent"] = Numbers(c.recent.begin(), c.recent.end()));
}

Rcpp::DataFrame departed_to_r(const std::vector<mixtures::Departure>& departed) {
  std::vector<mixtures::ClusterIdentity> clusters;
  Numbers size, into;
  for (const mixtures::Departure& d : departed) {
    clusters.push_back(d.cluster);
    size.push_back(d.size);
    into.push_back(d.into ? static_cast<double>(d.into) : NA_REAL);
  }
  using Rcpp::_;
  return Rcpp::DataFrame::create(_["id"] = identities(clusters, id_of),
                                 _["born_at"] = identities(clusters, birth_of),
                                 _["last_seen"] = identities(clusters, sight_of),
                                 _["lasting"] = which_last(clusters), _["size"] = size, _["into"] = into);
}

// The clusters as the globals of a mixture, so that all that reads a fit reads them: statistics of K
// clusters, with empty ones where the prior fixes K. No entropy: rows are assigned to one cluster each.
Globals globals_of(const mixtures::RunningClusters& c, const RModel& model) {
  const Index p = model.obs->n_features(), k = std::max(c.k(), model.alloc->fixed_k());
  Globals out;
  out.effective = Summary(model.alloc->shape(*model.obs), k);
  std::copy(c.t.begin(), c.t.begin() + c.k() * p, out.effective.obs.edit().begin());
  return out;
}

struct BatchRecord {
  double rows, score, k, seen, seconds;
};

Rcpp::DataFrame records_to_r(const std::vector<BatchRecord>& records) {
  const int n = static_cast<int>(records.size());
  Numbers rows(n), score(n), k(n), seen(n), seconds(n);
  for (int i = 0; i < n; ++i) {
    rows[i] = records[i].rows;
    score[i] = records[i].score;
    k[i] = records[i].k;
    seen[i] = records[i].seen;
    seconds[i] = records[i].seconds;
  }
  using Rcpp::_;
  return Rcpp::DataFrame::create(_["rows"] = rows, _["score"] = score, _["k"] = k, _["seen"] = seen,
                                 _["seconds"] = seconds);
}

}  // namespace

// Goes on from `clusters` with the rows of `data`, dealt at random to `batches` batches. The first of the
// passes has rows that were not seen before; in the others they replace what they left. half_life: rows after
// which a row counts half; Inf: never. all_rows: there are no others, so that clusters are tended at the end
// of each pass, and rows get labels.
// [[Rcpp::export]]
Rcpp::List engine_stream(Rcpp::List data, Rcpp::List model, Rcpp::List clusters, Rcpp::List options,
                         SEXP progress) {
  return entry([&] {
    RData rdata(data);
    const RModel rmodel(model);
    const ObsModel& obs = *rmodel.obs;
    require(obs.n_cells() == 0, "rows with expected cells cannot be learned from one at a time");
    const Dataset& view = rdata.view_for(obs);
    require(view.weight == nullptr && view.classes == nullptr, "a stream's rows have no weights or labels");
    const ListFields o(options);
    RMonitor monitor(Rcpp::Nullable<Rcpp::Function>(progress), o.flag("keep_interrupted"));
    RPool pool(o.integer("threads"), monitor);
    const auto seed = static_cast<std::uint64_t>(o.number("seed"));
    const double half_life = o.number("half_life");
    mixtures::RunningClusters running = clusters_from_r(clusters, obs.n_features());
    mixtures::TruncationFreeOptions how;
    how.sweeps = o.integer("sweeps");
    how.most_clusters = o.integer("k_max");
    how.merge = o.flag("merge");
    how.split = o.flag("split");
    how.fades = std::isfinite(half_life) || o.integer("passes") > 1;
    mixtures::TruncationFree learner(obs, make_partition_prior(ListFields(Rcpp::List(model["prior"]))), how,
                                     seed, running, pool);

    const std::vector<Index> rows = modelled_rows(view.starts, obs.lag());
    const Index n = static_cast<Index>(rows.size()),
                n_batches = std::clamp<Index>(o.integer("batches"), 1, std::max<Index>(n, 1));
    const bool all_rows = o.flag("all_rows");
    auto batches = deal_batches(n, n_batches, seed);
    for (auto& batch : batches)
      for (Index& i : batch) i = rows[i];

    std::vector<BatchRecord> records;
    bool interrupted = false;
    try {
      for (Index pass = 0; pass < o.integer("passes") && n > 0; ++pass) {
        const bool fresh = pass == 0;
        Stream order(seed, Purpose::batch_order, static_cast<std::uint64_t>(pass));
        for (Index b : shuffled(n_batches, order)) {
          const auto began = std::chrono::steady_clock::now();
          const RowFeatures batch(obs, view, batches[b]);
          const double size = static_cast<double>(batch.n());
          double score = NA_REAL;
          if (fresh)
            score = (learner.log_predictive(batch) + sum_log_base(obs, view, batches[b], &pool)) / size;
          double keep = std::exp2(-size / half_life);
          if (!fresh) keep *= std::max(0.0, 1 - size / static_cast<double>(n));
          learner.learn(batch, keep, fresh);
          if (learner.due()) learner.tend();
          const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
          records.push_back({size, score, static_cast<double>(running.k()), running.seen, passed.count()});
          LapRecord lap;
          lap.lap = static_cast<Index>(running.batches);
          lap.k = running.k();
          lap.elbo = score;
          pool.monitor().lap(lap);
        }
        if (all_rows && running.untended > 0) learner.tend();
      }
    } catch (const Interrupted&) {
      if (!o.flag("keep_interrupted") || running.k() == 0) throw;
      pool.go_on();
      interrupted = true;
    }
    std::vector<int> labels;
    if (all_rows) labels = learner.most_probable(RowFeatures(obs, view));
    const Globals globals = globals_of(running, rmodel);
    using Rcpp::_;
    return made_in_r([&] {
      Rcpp::IntegerVector label_of(all_rows ? static_cast<int>(view.n) : 0, NA_INTEGER);
      for (std::size_t i = 0; i < labels.size(); ++i) label_of[rows[i]] = 1 + labels[i];
      return Rcpp::List::create(_["clusters"] = clusters_to_r(running), _["state"] = state_to_r(globals),
                                _["records"] = records_to_r(records),
                                _["departed"] = departed_to_r(learner.departed()), _["labels"] = label_of,
                                _["capped"] = learner.capped(), _["interrupted"] = interrupted);
    });
  });
}
