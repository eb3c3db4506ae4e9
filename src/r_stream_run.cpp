#include "r_stream_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "foundation/data.h"

using Numbers = Rcpp::NumericVector;
using Rcpp::_;

namespace bnpvi {

namespace {

Numbers numbers(const std::vector<ClusterIdentity>& clusters, double (*field)(const ClusterIdentity&)) {
  Numbers out(static_cast<int>(clusters.size()));
  std::transform(clusters.begin(), clusters.end(), out.begin(), field);
  return out;
}

Rcpp::List identities_to_r(const std::vector<ClusterIdentity>& clusters) {
  Rcpp::LogicalVector lasting(static_cast<int>(clusters.size()));
  std::transform(clusters.begin(), clusters.end(), lasting.begin(),
                 [](const ClusterIdentity& c) { return c.lasting; });
  return Rcpp::List::create(
      _["id"] = numbers(clusters, [](const ClusterIdentity& c) { return static_cast<double>(c.id); }),
      _["born_at"] = numbers(clusters, [](const ClusterIdentity& c) { return c.born_at; }),
      _["last_seen"] = numbers(clusters, [](const ClusterIdentity& c) { return c.last_seen; }),
      _["lasting"] = lasting);
}

Rcpp::DataFrame departed_to_r(const std::vector<Departure>& departed) {
  std::vector<ClusterIdentity> clusters;
  Numbers size, into;
  for (const Departure& d : departed) {
    clusters.push_back(d.cluster);
    size.push_back(d.size);
    into.push_back(d.into ? static_cast<double>(d.into) : NA_REAL);
  }
  const Rcpp::List known = identities_to_r(clusters);
  return Rcpp::DataFrame::create(_["id"] = known["id"], _["born_at"] = known["born_at"],
                                 _["last_seen"] = known["last_seen"], _["lasting"] = known["lasting"],
                                 _["size"] = size, _["into"] = into);
}

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
  return Rcpp::DataFrame::create(_["rows"] = rows, _["score"] = score, _["k"] = k, _["seen"] = seen,
                                 _["seconds"] = seconds);
}

}  // namespace

StreamCall::StreamCall(const Rcpp::List& data, const Rcpp::List& model, const Rcpp::List& options,
                       SEXP progress)
    : rdata(data),
      rmodel(model),
      prior(Rcpp::List(model["prior"])),
      options(options),
      data(rdata.view_for(*rmodel.obs)),
      monitor(Rcpp::Nullable<Rcpp::Function>(progress), this->options.flag("keep_interrupted")),
      pool(this->options.integer("threads"), monitor),
      seed(static_cast<std::uint64_t>(this->options.number("seed"))) {}

void read_running(const Rcpp::List& list, Index p, RunningState& out) {
  const Vec id = Rcpp::as<Vec>(list["id"]), born_at = Rcpp::as<Vec>(list["born_at"]),
            last_seen = Rcpp::as<Vec>(list["last_seen"]);
  const auto lasting = Rcpp::as<std::vector<int>>(list["lasting"]);
  require(born_at.size() == id.size() && last_seen.size() == id.size() && lasting.size() == id.size(),
          "a stream's clusters have not one identity each");
  for (std::size_t j = 0; j < id.size(); ++j)
    out.identity.push_back({static_cast<std::uint64_t>(id[j]), born_at[j], last_seen[j], lasting[j] != 0});
  out.t = Rcpp::as<Vec>(list["t"]);
  require(static_cast<Index>(out.t.size()) == out.k() * p,
          "a stream's clusters have not the statistics of the model");
  out.next_id = static_cast<std::uint64_t>(Rcpp::as<double>(list["next_id"]));
  out.batches = static_cast<std::uint64_t>(Rcpp::as<double>(list["batches"]));
  out.seen = Rcpp::as<double>(list["seen"]);
  out.untended = Rcpp::as<double>(list["untended"]);
}

Rcpp::List running_to_r(const RunningState& running) {
  const Rcpp::List known = identities_to_r(running.identity);
  return Rcpp::List::create(_["t"] = Numbers(running.t.begin(), running.t.end()), _["id"] = known["id"],
                            _["born_at"] = known["born_at"], _["last_seen"] = known["last_seen"],
                            _["lasting"] = known["lasting"],
                            _["next_id"] = static_cast<double>(running.next_id),
                            _["batches"] = static_cast<double>(running.batches), _["seen"] = running.seen,
                            _["untended"] = running.untended);
}

Globals running_globals(const RunningState& running, const RModel& model) {
  Globals out;
  out.effective = Summary(model.alloc->shape(*model.obs), std::max(running.k(), model.alloc->fixed_k()));
  std::copy(running.t.begin(), running.t.end(), out.effective.obs.edit().begin());
  return out;
}

Rcpp::List stream_answer(const Rcpp::List& clusters, const Globals& globals, const StreamRun& run,
                         const RunningClusterLearner& learner) {
  return Rcpp::List::create(_["clusters"] = clusters, _["state"] = state_to_r(globals),
                            _["records"] = records_to_r(run.records),
                            _["departed"] = departed_to_r(learner.departed()), _["capped"] = learner.capped(),
                            _["interrupted"] = run.interrupted);
}

TruncationFreeOptions truncation_free_options(const ListFields& o) {
  TruncationFreeOptions out;
  out.sweeps = o.integer("sweeps");
  out.most_clusters = o.integer("k_max");
  out.renewals = o.integer("renewals");
  out.merge = o.flag("merge");
  out.split = o.flag("split");
  out.fades = std::isfinite(o.number("half_life")) || o.integer("passes") > 1;
  return out;
}

StreamRun run_batches(
    const ListFields& o, Index n, RunningClusterLearner& learner, RPool& pool,
    const std::function<double(const std::vector<Index>&, double keep, bool fresh)>& learn) {
  const auto seed = static_cast<std::uint64_t>(o.number("seed"));
  const double half_life = o.number("half_life");
  const Index n_batches = std::clamp<Index>(o.integer("batches"), 1, std::max<Index>(n, 1));
  const auto batches = deal_batches(n, n_batches, seed);
  StreamRun out;
  try {
    for (Index pass = 0; pass < o.integer("passes") && n > 0; ++pass) {
      const bool fresh = pass == 0;
      Stream order(seed, Purpose::batch_order, static_cast<std::uint64_t>(pass));
      for (Index b : shuffled(n_batches, order)) {
        const auto began = std::chrono::steady_clock::now();
        const auto size = static_cast<double>(batches[b].size());
        double keep = std::exp2(-size / half_life);
        if (!fresh) keep *= std::max(0.0, 1 - size / static_cast<double>(n));
        const double score = learn(batches[b], keep, fresh);
        if (learner.due()) learner.tend();
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
        out.records.push_back({size, score, static_cast<double>(learner.running().k()),
                               learner.running().seen, passed.count()});
        LapRecord lap;
        lap.lap = static_cast<Index>(learner.running().batches);
        lap.k = learner.running().k();
        lap.elbo = score;
        pool.monitor().lap(lap);
      }
      if (o.flag("all_rows") && learner.running().untended > 0) learner.tend();
    }
  } catch (const Interrupted&) {
    if (!o.flag("keep_interrupted") || learner.running().k() == 0) throw;
    pool.go_on();
    out.interrupted = true;
  }
  return out;
}

}  // namespace bnpvi
