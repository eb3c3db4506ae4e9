#include "features/local_step.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "features/row_step.h"
#include "foundation/chunks.h"
#include "kernels/kernels.h"

namespace bnpvi::features {

namespace {

constexpr Index block_rows = 128;    // rows whose ν and g are in the first caches together: a guess
constexpr double least_rise = 1e-6;  // nats for which exchanges go on: rounding alone rose without end

// ν of rows from .. end − 1, n × K, row-major.
void load(const LocalModel& model, const Presence& presence, const std::vector<int>& place, Index from,
          Index end, Buffer& nu) {
  const Index k = model.k();
  nu.resize(static_cast<std::size_t>((end - from) * k));
  std::fill(nu.begin(), nu.end(), 0.0);
  for (Index i = from; i < end; ++i) {
    double* row = nu.data() + (i - from) * k;
    if (model.offset) row[0] = 1;
    for (Index e = presence.start[i]; e < presence.start[i + 1]; ++e) {
      const auto id = static_cast<std::size_t>(presence.feature[e]);
      if (id < place.size() && place[id] >= 0) row[model.offset + place[id]] = presence.value[e];
    }
  }
}

// Adds the contributions of blocks of rows. Sums of products over all rows are kept separately, since the
// Summary stores them interleaved with those of rows with missing cells.
class Statistics {
 public:
  Statistics(const LocalModel& model, const RowBatch& batch)
      : model_(model),
        batch_(batch),
        summary_(summary_shape(model.rows), model.k()),
        s_zz_(size(model.k() * model.k())),
        s_zx_(size(model.k() * model.rows.d)) {}

  void add(Index from, Index n, const double* nu) {
    const Index k = model_.k(), d = model_.rows.d, q = summary_.shape.q, pairs = summary_.shape.pairs;
    const double* x = batch_.row(from);
    Buffer& count = summary_.obs.edit();
    Vec &scalar = summary_.scalar, &pair = summary_.pair, &extra = summary_.extra;
    if (k > 0) {
      kernels().add_product_tn(n, k, k, nu, k, nu, k, s_zz_.data(), k);
      kernels().add_product_tn(n, k, d, nu, k, x, d, s_zx_.data(), d);
    }
    for (Index i = 0; i < n; ++i) {
      const double* row = nu + i * k;
      for (Index j = 0; j < k; ++j) {
        if (row[j] == 0) continue;
        count[j] += row[j];
        s_zz_[j * k + j] += row[j] * (1 - row[j]);
        extra[(j + 1) * q - 1] += binary_entropy(row[j]);
      }
      for (Index g = 0; g < batch_.n_gaps(from + i); ++g) {
        const Index group = batch_.gaps(from + i)[g];
        for (Index j = 0; j < k; ++j)
          if (row[j] > 0)
            for (Index l = 0; l < k; ++l)
              pair[(j * k + l) * pairs + group] += l == j ? row[j] : row[j] * row[l];
      }
      scalar[n_cells] += model_.rows.cells(batch_, from + i);
      double squares = 0;
      for (Index j = 0; j < d; ++j) squares += x[i * d + j] * x[i * d + j];
      scalar[sum_squares] += squares;
    }
    scalar[n_rows] += static_cast<double>(n);
  }

  Summary done() {
    const Index k = model_.k(), d = model_.rows.d, q = summary_.shape.q, pairs = summary_.shape.pairs;
    for (Index j = 0; j < k * k; ++j) summary_.pair[j * pairs] = s_zz_[j];
    for (Index j = 0; j < k; ++j) std::copy_n(s_zx_.begin() + j * d, d, summary_.extra.begin() + j * q);
    return std::move(summary_);
  }

 private:
  static std::size_t size(Index n) { return static_cast<std::size_t>(n); }
  const LocalModel& model_;
  const RowBatch& batch_;
  Summary summary_;
  Vec s_zz_, s_zx_;
};

}  // namespace

std::vector<int> places_of(const std::vector<int>& ids) {
  std::vector<int> out;
  for (std::size_t j = 0; j < ids.size(); ++j) {
    const auto id = static_cast<std::size_t>(ids[j]);
    if (out.size() <= id) out.resize(id + 1, -1);
    out[id] = static_cast<int>(j);
  }
  return out;
}

Visited visit(const LocalModel& model, const RowBatch& batch, const Presence& before, const Visiting& how,
              Pool& pool, double* bound) {
  const Index n = batch.n, k = model.k(), d = model.rows.d;
  const bool sweeps = k > 0 && (how.sweeps > 0 || bound);
  const SummaryShape shape = summary_shape(model.rows);
  const Index chunks = count_chunks(n, 1 + k * k * shape.pairs + k * shape.q);
  const std::vector<int> place = places_of(model.id);
  std::vector<Summary> summary(static_cast<std::size_t>(chunks));
  std::vector<Presence> presence(summary.size());
  pool.run(chunks, [&](Index chunk) {
    Statistics statistics(model, batch);
    std::optional<RowStep> step;  // without sweeps the globals may be those of other features
    if (sweeps) step.emplace(model, batch);
    Buffer nu, g;
    Vec none(static_cast<std::size_t>(k)), best(none);
    if (model.offset) none[0] = 1;
    const Index chunk_ends = chunk_end(n, chunks, chunk);
    for (Index first = chunk_begin(n, chunks, chunk); first < chunk_ends; first += block_rows) {
      pool.poll();
      const Index last = std::min(chunk_ends, first + block_rows), rows = last - first;
      load(model, before, place, first, last, nu);
      if (sweeps) {
        g.resize(static_cast<std::size_t>(rows * k));
        kernels().product_nt(rows, k, d, batch.row(first), d, model.loadings.m.data(), d, g.data(), k);
        for (double& value : g) value *= model.loadings.tau();
      }
      for (Index i = 0; i < rows; ++i) {
        double* row = nu.data() + i * k;
        if (sweeps) {
          step->begin(first + i, g.data() + i * k);
          double highest = -std::numeric_limits<double>::infinity();
          const auto ascend = [&](auto begin) {
            begin();
            step->sweep(how.sweeps);
            const double reached = step->bound();
            if (!(reached > highest)) return;
            highest = reached;
            std::copy_n(step->nu(), k, best.begin());
          };
          if (how.start != Visiting::Start::fresh) ascend([&] { step->set(row); });
          if (how.start != Visiting::Start::remembered) {
            ascend([&] { step->set(none.data()); });
            ascend([&] { step->set_alone(); });
          }
          if (how.start != Visiting::Start::remembered) {
            step->set(best.data());
            for (bool higher = true; higher && step->exchange();) {
              const double before = highest;
              ascend([] {});
              higher = highest > before + least_rise;
            }
          }
          std::copy_n(best.begin(), k, row);
          if (bound) bound[first + i] = highest;
        }
        for (Index j = model.offset; j < k; ++j)
          if (row[j] > 0) presence[chunk].add(model.id[j - model.offset], row[j]);
        presence[chunk].end_row();
      }
      statistics.add(first, rows, nu.data());
    }
    summary[chunk] = statistics.done();
  });
  std::vector<const Summary*> parts;
  auto all = std::make_shared<Presence>();
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    parts.push_back(&summary[chunk]);
    const Presence& part = presence[chunk];
    const Index shift = static_cast<Index>(all->feature.size());
    all->feature.insert(all->feature.end(), part.feature.begin(), part.feature.end());
    all->value.insert(all->value.end(), part.value.begin(), part.value.end());
    for (Index i = 1; i <= part.rows(); ++i) all->start.push_back(part.start[i] + shift);
  }
  auto total = std::make_shared<Summary>();
  total->set_to_sum(parts, &pool);
  return {std::move(total), std::move(all)};
}

Buffer residuals(const LocalModel& model, const RowBatch& batch, const Presence& presence, Pool& pool) {
  const Index n = batch.n, d = model.rows.d, k = model.k();
  const std::vector<int> place = places_of(model.id);
  Buffer out = batch.x;
  const Index tasks = (n + block_rows - 1) / block_rows;
  pool.run(tasks, [&](Index task) {
    const Index first = task * block_rows, last = std::min(n, first + block_rows);
    Buffer nu;
    load(model, presence, place, first, last, nu);
    for (Index i = first; i < last; ++i) {
      double* row = out.data() + i * d;
      for (Index j = 0; j < k; ++j) {
        const double share = nu[(i - first) * k + j];
        const double* m = model.loadings.m.data() + j * d;
        if (share > 0)
          for (Index e = 0; e < d; ++e) row[e] -= share * m[e];
      }
      const int* gaps = batch.gaps(i);
      const Index n_gaps = batch.n_gaps(i);
      for (Index e = 0; n_gaps > 0 && e < d; ++e)
        if (std::binary_search(gaps, gaps + n_gaps, model.rows.group[e])) row[e] = 0;
    }
  });
  return out;
}

}  // namespace bnpvi::features
