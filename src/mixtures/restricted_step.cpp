#include "mixtures/restricted_step.h"

#include <algorithm>

#include "foundation/chunks.h"
#include "foundation/special.h"
#include "mixtures/mixture.h"

namespace bnpvi::mixtures {

Redistributed RestrictedStep::on(const ObsModel& obs, const Dataset& data, const MassOnRows& where,
                                 Pool& pool, Vec* share, const LoadedRows* loaded) const {
  const Index p = obs.n_features();
  const bool sums_only = loaded != nullptr;
  Weights weights = make_weights(obs, t.data(), k);
  add_log_weights(weights, log_weights);
  weights.pack(obs, data);
  const Index n = static_cast<Index>(where.rows.size()), n_chunks = count_chunks(n);
  pool.spend(cost_of_rows(obs, data, n, stored_entries(data, where.rows), k));
  if (share) share->resize(static_cast<std::size_t>(n * k));
  std::vector<FeatureSum> sums(static_cast<std::size_t>(n_chunks), FeatureSum(obs, data, k));
  for (FeatureSum& sum : sums) sum.expect_under(weights);
  const bool add_left = !sums_only && !where.expected;
  std::vector<Vec> left(static_cast<std::size_t>(n_chunks), Vec(static_cast<std::size_t>(p), 0.0));
  Vec entropy(static_cast<std::size_t>(n_chunks), 0.0);
  const bool ready = loaded && !loaded->empty();
  pool.run(n_chunks, [&](Index chunk) {
    FeatureBlock scratch(obs, data);
    Responsibilities r;
    Vec w;
    const Index begin = chunk_begin(n, n_chunks, chunk), end = chunk_end(n, n_chunks, chunk);
    for (Index from = begin; from < end; from += scratch.block_rows()) {
      pool.poll();
      const Index m = std::min(scratch.block_rows(), end - from);
      if (!ready) scratch.load(where.rows.data() + from, m);
      const FeatureBlock& block = ready ? (*loaded)[chunk][(from - begin) / scratch.block_rows()] : scratch;
      w.resize(static_cast<std::size_t>(m * k));
      block.times(weights, w.data());
      double unused = 0;
      normalise(m, k, w, 0, r, unused);
      for (Index i = 0; i < m; ++i) {
        double* row = r.value.data() + i * k;
        if (hard) {
          const Index best = std::max_element(row, row + k) - row;
          std::fill(row, row + k, 0.0);
          row[best] = 1;
        }
        if (share) std::copy_n(row, k, share->begin() + (from + i) * k);
        const double mass = where.mass[from + i];
        for (Index j = 0; j < k; ++j) {
          if (!sums_only) entropy[chunk] -= mass * x_log_x(row[j]);
          row[j] *= mass;
        }
      }
      block.add_weighted(r, sums[chunk]);
      if (add_left) block.add_weighted(where.mass.data() + from, left[chunk].data());
    }
  });
  Redistributed out;
  out.arrived.assign(static_cast<std::size_t>(k * p), 0.0);
  out.left.assign(static_cast<std::size_t>(p), 0.0);
  for (Index chunk = 0; chunk < n_chunks; ++chunk) {
    sums[chunk].finish(out.arrived.data());
    out.entropy += entropy[chunk];
    for (Index i = 0; i < p; ++i) out.left[i] += left[chunk][i];
  }
  if (!sums_only && where.expected) out.left = where.statistic(obs, data, pool);
  return out;
}

Vec RestrictedStep::shares(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows,
                           Pool& pool) const {
  Weights weights = make_weights(obs, t.data(), k);
  add_log_weights(weights, log_weights);
  weights.pack(obs, data);
  const Index n = static_cast<Index>(rows.size()), n_chunks = count_chunks(n);
  pool.spend(cost_of_rows(obs, data, n, stored_entries(data, rows), k));
  Vec out(static_cast<std::size_t>(n * k));
  pool.run(n_chunks, [&](Index chunk) {
    FeatureBlock block(obs, data);
    Responsibilities r;
    Vec w;
    const Index end = chunk_end(n, n_chunks, chunk);
    for (Index from = chunk_begin(n, n_chunks, chunk); from < end; from += block.n()) {
      pool.poll();
      block.load(rows.data() + from, std::min(block.block_rows(), end - from));
      w.resize(static_cast<std::size_t>(block.n() * k));
      block.times(weights, w.data());
      double unused = 0;
      normalise(block.n(), k, w, 0, r, unused);
      std::copy(r.value.begin(), r.value.end(), out.begin() + from * k);
    }
  });
  return out;
}

void RestrictedStep::write(Writer& out) const {
  out.integer(k);
  out.list(t);
  out.list(log_weights);
  out.flag(hard);
}

RestrictedStep RestrictedStep::read(Reader& in) {
  RestrictedStep out;
  out.k = in.integer();
  out.t = in.list<Vec>();
  out.log_weights = in.list<Vec>();
  out.hard = in.flag();
  return out;
}

AssignWork::AssignWork(Index batch, Reader& in)
    : BatchWork(batch, nullptr),
      step_(std::make_shared<const RestrictedStep>(RestrictedStep::read(in))),
      own_(std::make_unique<MassOnRows>(MassOnRows::read(in))),
      where_(own_.get()) {}

void AssignWork::write_task(Writer& out) const {
  step_->write(out);
  where_->write(out);
}

void AssignWork::write_result(Writer& out) const {
  out.list(found.left);
  out.list(found.arrived);
  out.number(found.entropy);
}

void AssignWork::read_result(Reader& in) {
  found.left = in.list<Vec>();
  found.arrived = in.list<Vec>();
  found.entropy = in.number();
}

StatisticWork::StatisticWork(Index batch, Reader& in)
    : BatchWork(batch, nullptr),
      own_(std::make_unique<MassOnRows>(MassOnRows::read(in))),
      where_(own_.get()) {}

}  // namespace bnpvi::mixtures
