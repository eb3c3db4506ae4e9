#include "testing/audit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bnpvi::testing {

namespace {

double relative(double a, double b) { return std::abs(a - b) / (1 + std::abs(b)); }

// Largest deviation of the first p statistics of a from those of b, each feature relative to its sum over
// clusters.
double deviation(const Summary& a, const Summary& b, Index p) {
  double worst = 0;
  for (Index i = 0; i < p; ++i) {
    double size = 1, difference = 0;
    for (Index j = 0; j < b.k; ++j) {
      size += std::abs(b.t(j)[i]);
      difference = std::max(difference, std::abs(a.t(j)[i] - b.t(j)[i]));
    }
    worst = std::max(worst, difference / size);
  }
  return worst;
}

double largest_difference(const Vec& a, const Vec& b) {
  double worst = 0;
  for (std::size_t i = 0; i < b.size(); ++i) worst = std::max(worst, relative(a[i], b[i]));
  return worst;
}

double negative_entropy(double p) { return p > 0 ? p * std::log(p) : 0; }

// Adds up transitions and entropy for models of pairs, H = Σ_t H(z_pa(t), z_t) − H(z_pa(t)), from joint
// probabilities. Returns the largest deviation of their margins from the responsibilities.
double count_pairs(const Problem& problem, const Batch& batch, const Assignments& q, Summary& out) {
  const Index k = q.k;
  double worst = 0;
  std::fill(out.pair.begin(), out.pair.end(), 0.0);
  out.entropy() = 0;
  const std::vector<Index>& starts = problem.source.starts();
  for (Index unit : batch.units) {
    const Index g = batch.group_number(unit), first = starts[g] + problem.obs->capabilities().lag;
    const double w = batch.data.weight_of_group(unit);
    for (Index t = first; t < starts[g + 1]; ++t) {
      const double* joint = q.joint.data() + t * k * k;
      const Index parent = t - steps_to_parent(problem.source.back(), t, first),
                  position = position_of(problem.source.position(), t);
      for (Index j = 0; j < k; ++j) {
        if (parent == t) out.entropy() -= w * negative_entropy(q.r[j * q.n + t]);
        if (parent == t) continue;
        out.entropy() += w * negative_entropy(q.r[j * q.n + parent]);
        double from = 0, to = 0;
        for (Index l = 0; l < k; ++l) {
          out.of_pair(j, l, position) += w * joint[j * k + l];
          out.entropy() -= w * negative_entropy(joint[j * k + l]);
          from += joint[j * k + l];
          to += joint[l * k + j];
        }
        worst = std::max({worst, std::abs(from - q.r[j * q.n + parent]), std::abs(to - q.r[j * q.n + t])});
      }
    }
  }
  return worst;
}

}  // namespace

void Audit::computed(const Problem& problem, const State& state) {
  ++checks;
  const RememberedUnits* remembered = problem.alloc.capabilities().remembered;
  if (!remembered && !(state.assignments && state.assignments->k == state.k())) {
    elbo = std::numeric_limits<double>::infinity();
    return;
  }
  GivenResponsibilities resp;
  if (!remembered) resp = {state.assignments->r.data(), state.assignments->n, state.k()};
  const bool expects = !remembered && n_cells(problem.obs) > 0;
  std::shared_ptr<const Weights> visiting;
  if (expects) {
    visiting = visiting_weights(problem, state.total);
  } else {
    Weights none;
    none.k = state.k();
    visiting = std::make_shared<const Weights>(std::move(none));
  }
  const Index p = expects ? 1 : state.total.shape.p;
  State again;
  again.total = Summary(state.total.shape, state.k());
  again.total.names = state.total.names;
  Summary sum = again.total;
  for (Index b = 0; b < problem.source.n_batches(); ++b) {
    if (state.batch[b]->settled) {
      again.total.add(*state.batch[b]);
      sum.add(*state.batch[b]);
      continue;
    }
    const std::shared_ptr<const Batch> batch = problem.source.open(b);
    const Visit visit{batch->data, batch->units, problem.obs, state.globals,
                      visiting,    pool_,        nullptr,     state.batch[b]->memory.get()};
    Summary truth =
        remembered ? remembered->recompute(visit) : problem.alloc.summarise(visit, resp.of_rows(batch->rows));
    if (truth.shape.pairs && remembered) {
      statistics = std::max(statistics, largest_difference(state.batch[b]->pair, truth.pair));
    } else if (truth.shape.pairs) {
      const double margins = count_pairs(problem, *batch, *state.assignments, truth);
      statistics = std::max({statistics, margins, largest_difference(state.batch[b]->pair, truth.pair),
                             largest_difference(state.batch[b]->extra, truth.extra)});
    }
    truth.log_base = batch_log_base(problem, *batch);
    if (remembered) weights = std::max(weights, state.batch[b]->memory->shares.n_weights());
    again.total.add(truth);
    sum.add(*state.batch[b]);
    statistics = std::max(statistics, deviation(*state.batch[b], truth, p));
    entropy = std::max(entropy, relative(state.batch[b]->entropy(), truth.entropy()));
    statistics = std::max(statistics, relative(state.batch[b]->log_base, truth.log_base));
  }
  sums = std::max({sums, deviation(state.total, sum, state.total.shape.p),
                   relative(state.total.entropy(), sum.entropy()),
                   relative(state.total.log_base, sum.log_base)});
  again.globals = {again.total, state.globals.u, state.globals.omega};
  if (expects) again.globals = problem.alloc.global_step(again.total, again.globals);
  const double recomputed = sum_terms(elbo_terms(problem, again.total, again.globals));
  if (!expects || recomputed < state.elbo) elbo = std::max(elbo, relative(state.elbo, recomputed));
}

void Audit::predicted(double foretold, const State& state, Index taken) {
  ++moves;
  rounds = std::max(rounds, taken);
  gain = std::max(gain, relative(foretold, state.elbo));
}

void Audit::foreseen(double foretold, const State& state) {
  ++n_foreseen;
  gain = std::max(gain, relative(foretold, state.elbo));
}

void Audit::accepted(const State& state) {
  if (any_) smallest_gain = std::min(smallest_gain, (state.elbo - last_) / (1 + std::abs(state.elbo)));
  any_ = true;
  last_ = state.elbo;
}

void Audit::replaced(double before, double after, const std::function<double()>& anew) {
  ++moves;
  smallest_gain = std::min(smallest_gain, (after - before) / (1 + std::abs(before)));
  if (!anew) return;
  ++checks;
  elbo = std::max(elbo, relative(after, anew()));
}

}  // namespace bnpvi::testing
