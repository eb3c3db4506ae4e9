#include "inference/start/scalable_work.h"

#include <algorithm>
#include <cmath>

#include "foundation/chunks.h"
#include "inference/start/seeding_rows.h"
#include "observations/feature_block.h"

namespace bnpvi {

namespace {

constexpr Index rows_at_once = 256;  // a guess

bool comes_first(const DrawnRow& a, const DrawnRow& b) {
  return a.key < b.key || (a.key == b.key && a.number < b.number);
}

// The results for the rows of one chunk.
struct Found {
  Vec mass;
  double potential = 0;
  std::vector<DrawnRow> drawn;
};

}  // namespace

void keep_first(std::vector<DrawnRow>& rows, Index most) {
  std::sort(rows.begin(), rows.end(), comes_first);
  if (static_cast<Index>(rows.size()) > most) rows.resize(static_cast<std::size_t>(most));
}

void DrawRowsWork::run(const Problem& problem, const Batch& data, Pool& pool) {
  const Candidates& from_all = *candidates_;
  const std::vector<Index> rows =
      modelled_rows(data, problem.alloc.grouped(), problem.obs->capabilities().lag);
  const Index k = static_cast<Index>(from_all.rows.rows.size()), n = static_cast<Index>(rows.size()),
              n_chunks = count_chunks(n), draws = from_all.draws;
  std::unique_ptr<SeedRows> centres;
  if (k > 0) {
    centres = make_seed_rows(problem.obs, from_all.rows.data, from_all.rows.rows,
                             all_of(Vec(static_cast<std::size_t>(k), 1.0)));
    centres->become_centres(pool);
  }
  std::vector<Found> found(static_cast<std::size_t>(n_chunks));
  pool.run(n_chunks, [&](Index chunk) {
    Found& out = found[chunk];
    out.mass.assign(static_cast<std::size_t>(k), 0.0);
    Vec divergence;
    const Index end = chunk_end(n, n_chunks, chunk);
    for (Index from = chunk_begin(n, n_chunks, chunk), m; from < end; from += m) {
      pool.poll();
      m = std::min(rows_at_once, end - from);
      if (centres) {
        const auto these =
            make_seed_rows(problem.obs, data.data, {rows.begin() + from, rows.begin() + from + m},
                           all_of(Vec(static_cast<std::size_t>(m), 1.0)));
        these->look_at(m, pool);
        these->divergences_to(*centres, divergence);
      }
      for (Index i = 0; i < m; ++i) {
        const Index row = rows[from + i], number = data.row_number(row);
        double share = data.data.weight_of(row);
        if (centres) {
          const double* all = divergence.data() + i * k;
          const Index nearest = std::min_element(all, all + k) - all;
          out.mass[nearest] += share;
          share *= all[nearest];
        }
        out.potential += share;
        if (draws == 0 || !(share > 0)) continue;
        Stream stream(from_all.seed, Purpose::initial_seeds, 1 + static_cast<std::uint64_t>(from_all.round),
                      static_cast<std::uint64_t>(number));
        out.drawn.push_back({-std::log1p(-stream.uniform()) / share, number, batch, row});
      }
      if (static_cast<Index>(out.drawn.size()) > 4 * (draws + rows_at_once)) keep_first(out.drawn, draws);
    }
  });
  mass.assign(static_cast<std::size_t>(k), 0.0);
  for (const Found& one : found) {
    potential += one.potential;
    for (Index j = 0; j < k; ++j) mass[j] += one.mass[j];
    drawn.insert(drawn.end(), one.drawn.begin(), one.drawn.end());
  }
  keep_first(drawn, draws);
}

DrawRowsWork::DrawRowsWork(Index batch, Reader& in) : BatchWork(batch, nullptr) {
  auto candidates = std::make_shared<Candidates>();
  candidates->rows = Sample::read(in);
  candidates->round = in.integer();
  candidates->draws = in.integer();
  candidates->seed = static_cast<unsigned long long>(in.integer());
  candidates_ = std::move(candidates);
}

void DrawRowsWork::write_task(Writer& out) const {
  candidates_->rows.write(out);
  out.integer(candidates_->round);
  out.integer(candidates_->draws);
  out.integer(static_cast<std::int64_t>(candidates_->seed));
}

void DrawRowsWork::write_result(Writer& out) const {
  out.list(drawn);
  out.list(mass);
  out.number(potential);
}

void DrawRowsWork::read_result(Reader& in) {
  drawn = in.list<std::vector<DrawnRow>>();
  mass = in.list<Vec>();
  potential = in.number();
}

void NearestWork::run(const Problem& problem, const Batch& data, Pool& pool) {
  const ObsModel& obs = problem.obs;
  const Index k = centres_->k, p = obs.n_features();
  Weights weights;
  weights.k = k;
  weights.p = p;
  weights.w.resize(centres_->w.size());
  std::copy(centres_->w.begin(), centres_->w.end(), weights.w.data());
  if (has_entries(obs)) weights.transpose();
  weights.pack(obs, data.data);
  const std::vector<Index> rows = modelled_rows(data, problem.alloc.grouped(), obs.capabilities().lag);
  const Index n = static_cast<Index>(rows.size()), n_chunks = count_chunks(n, k * p);
  pool.spend(cost_of_rows(obs, data.data, n, stored_entries(data.data, rows), k));
  std::vector<FeatureSum> sums(static_cast<std::size_t>(n_chunks), FeatureSum(obs, data.data, k));
  for (FeatureSum& sum : sums) sum.expect_under(weights);
  pool.run(n_chunks, [&](Index chunk) {
    FeatureBlock block(obs, data.data);
    Responsibilities r;
    r.k = k;
    r.width = 1;
    r.sparse = true;
    Vec score;
    const Index end = chunk_end(n, n_chunks, chunk);
    for (Index from = chunk_begin(n, n_chunks, chunk); from < end; from += block.n()) {
      pool.poll();
      block.load(rows.data() + from, std::min(block.block_rows(), end - from));
      score.resize(static_cast<std::size_t>(block.n() * k));
      block.times(weights, score.data());
      r.n = block.n();
      r.value.resize(static_cast<std::size_t>(r.n));
      r.cluster.resize(r.value.size());
      for (Index i = 0; i < r.n; ++i) {
        const double* row = score.data() + i * k;
        r.cluster[i] = static_cast<int>(std::max_element(row, row + k) - row);
        r.value[i] = block.weight(i);
      }
      block.add_weighted(r, sums[chunk]);
    }
  });
  t.assign(static_cast<std::size_t>(k * p), 0.0);
  for (const FeatureSum& sum : sums) sum.finish(t.data());
}

NearestWork::NearestWork(Index batch, Reader& in) : BatchWork(batch, nullptr) {
  auto centres = std::make_shared<Centres>();
  centres->k = in.integer();
  centres->w = in.list<Vec>();
  centres_ = std::move(centres);
}

void NearestWork::write_task(Writer& out) const {
  out.integer(centres_->k);
  out.list(centres_->w);
}

}  // namespace bnpvi
