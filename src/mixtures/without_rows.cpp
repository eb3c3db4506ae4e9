#include "mixtures/without_rows.h"

#include "foundation/special.h"

namespace bnpvi::mixtures {

namespace {

// Adds to `sum` rows of a batch with the numbers that fill(i, r) writes for row i, of which r has K.
template <class Fill>
void add_rows(const Problem& problem, Pool& pool, const Batch& batch, const TouchedRows& rows, Summary& sum,
              Fill fill) {
  const Index n = rows.size(), k = sum.k;
  FeatureBlock block(problem.obs, batch.data);
  FeatureSum features(problem.obs, batch.data, k);
  if (rows.expected) features.expect_under(*rows.expected, &rows.at_visit);
  Responsibilities r;
  r.k = r.width = k;
  for (Index from = 0; from < n; from += block.block_rows()) {
    pool.poll();
    r.n = std::min(block.block_rows(), n - from);
    r.value.assign(static_cast<std::size_t>(r.n * k), 0.0);
    for (Index i = 0; i < r.n; ++i) fill(from + i, r.value.data() + i * k);
    block.load(rows.rows.data() + from, r.n);
    block.add_weighted(r, features);
  }
  features.finish(sum.edit_t(0));
}

// Calls to(j, before, after) for the clusters j of row i, with its responsibilities before and after.
template <class To>
void spread_row(const Spread& spread, Index i, To to) {
  const TouchedRows& rows = spread.rows;
  const double gone = rows.get(i, spread.cluster);
  for (Index e = rows.offset[i]; e < rows.offset[i + 1]; ++e)
    to(rows.cluster[e], rows.value[e], rows.cluster[e] == spread.cluster ? 0 : rows.value[e] / (1 - gone));
}

// spread: by batch.
std::vector<EditedPart> parts_without(const Problem& problem, Pool& pool, const State& state,
                                      const std::vector<TouchedRows>& touched,
                                      const std::vector<Spread>& spread) {
  std::vector<EditedPart> parts;
  std::vector<std::unique_ptr<WithoutWork>> work;
  for (std::size_t b = 0; b < touched.size(); ++b) {
    parts.push_back({touched[b].rows, *state.batch[b]});
    if (touched[b].size() + spread[b].rows.size() > 0)
      work.push_back(
          std::make_unique<WithoutWork>(static_cast<Index>(b), state.batch[b], touched[b], spread[b]));
  }
  do_work(problem, pool, work);
  for (const auto& done : work) {
    Summary& rest = parts[static_cast<std::size_t>(done->batch)].rest = std::move(done->rest);
    rest.memory = nullptr;  // belongs to the previous assignments
  }
  return parts;
}

}  // namespace

WithoutWork::WithoutWork(Index batch, Reader& in)
    : BatchWork(batch, nullptr),
      whole_(std::make_shared<const Summary>(Summary::read(in))),
      own_(std::make_unique<TouchedRows>(TouchedRows::read(in))),
      own_spread_(std::make_unique<Spread>()),
      touched_(own_.get()),
      spread_(own_spread_.get()) {
  own_spread_->cluster = in.integer();
  own_spread_->rows = TouchedRows::read(in);
}

void WithoutWork::run(const Problem& problem, const Batch& data, Pool& pool) {
  rest = *whole_;
  add_rows(problem, pool, data, *touched_, rest, [&](Index i, double* r) {
    const double weight = touched_->weight[i];
    for (Index e = touched_->offset[i]; e < touched_->offset[i + 1]; ++e) {
      r[touched_->cluster[e]] = -weight * touched_->value[e];
      rest.entropy() += weight * x_log_x(touched_->value[e]);
    }
  });
  add_rows(problem, pool, data, spread_->rows, rest, [&](Index i, double* r) {
    const double weight = spread_->rows.weight[i];
    spread_row(*spread_, i, [&](int j, double before, double after) {
      r[j] = weight * (after - before);
      rest.entropy() += weight * (x_log_x(before) - x_log_x(after));
    });
  });
}

void WithoutWork::write_task(Writer& out) const {
  Summary plain = *whole_;
  plain.memory = nullptr;
  plain.write(out);
  touched_->write(out, true);
  out.integer(spread_->cluster);
  spread_->rows.write(out, true);
}

std::vector<EditedPart> parts_without(const Problem& problem, Pool& pool, const State& state,
                                      const std::vector<TouchedRows>& touched) {
  return parts_without(problem, pool, state, touched, std::vector<Spread>(touched.size()));
}

std::vector<EditedPart> parts_without_cluster(const Problem& problem, Pool& pool, State& state,
                                              const std::vector<TouchedRows>& touched, Index cluster,
                                              double least) {
  std::vector<TouchedRows> visited;
  std::vector<Spread> spread;
  for (const TouchedRows& batch : touched) {
    std::vector<Index> large, small;
    for (Index i = 0; i < batch.size(); ++i) (batch.get(i, cluster) < least ? small : large).push_back(i);
    visited.push_back(batch.some(large));
    spread.push_back({cluster, batch.some(small)});
  }
  if (state.assignments)
    for (std::size_t b = 0; b < spread.size(); ++b) {
      const auto data = problem.source.open(static_cast<Index>(b));
      Assignments& all = *state.assignments;
      for (Index i = 0; i < spread[b].rows.size(); ++i) {
        const Index row = data->row_number(spread[b].rows.rows[i]);
        spread_row(spread[b], i, [&](int j, double, double after) { all.r[j * all.n + row] = after; });
      }
    }
  return parts_without(problem, pool, state, visited, spread);
}

}  // namespace bnpvi::mixtures
