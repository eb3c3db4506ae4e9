#include "mixtures/touched_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "foundation/special.h"

namespace bnpvi::mixtures {

namespace {

constexpr double least_sampled = 0.01;  // responsibility of a target for rows of a sample: a guess

}  // namespace

void TouchedRows::reserve(std::size_t n, std::size_t entries) {
  rows.reserve(n);
  weight.reserve(n);
  offset.reserve(n + 1);
  cluster.reserve(entries);
  value.reserve(entries);
}

void TouchedRows::append(const TouchedRows& other) {
  rows.insert(rows.end(), other.rows.begin(), other.rows.end());
  weight.insert(weight.end(), other.weight.begin(), other.weight.end());
  const Index shift = offset.back();
  for (std::size_t i = 1; i < other.offset.size(); ++i) offset.push_back(shift + other.offset[i]);
  cluster.insert(cluster.end(), other.cluster.begin(), other.cluster.end());
  value.insert(value.end(), other.value.begin(), other.value.end());
}

TouchedRows TouchedRows::with_mass(const Target& target, double least) const {
  std::vector<Index> kept;
  for (Index i = 0; i < static_cast<Index>(rows.size()); ++i)
    if (mass(i, target) >= least) kept.push_back(i);
  return some(kept);
}

TouchedRows TouchedRows::some(const std::vector<Index>& numbers) const {
  TouchedRows out;
  out.expected = expected;
  out.at_visit = at_visit;
  const std::size_t n = numbers.size();
  out.rows.resize(n), out.weight.resize(n), out.offset.resize(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const Index from = numbers[i];
    out.rows[i] = rows[from];
    out.weight[i] = weight[from];
    out.offset[i + 1] = out.offset[i] + offset[from + 1] - offset[from];
  }
  out.cluster.resize(static_cast<std::size_t>(out.offset.back()));
  out.value.resize(out.cluster.size());
  for (std::size_t i = 0; i < n; ++i) {
    Index to = out.offset[i];
    for (Index e = offset[numbers[i]]; e < offset[numbers[i] + 1]; ++e, ++to) {
      out.cluster[to] = cluster[e];
      out.value[to] = value[e];
    }
  }
  return out;
}

double TouchedRows::get(Index row, Index j) const {
  for (Index e = offset[row]; e < offset[row + 1]; ++e)
    if (cluster[e] == j) return value[e];
  return 0;
}

double TouchedRows::mass(Index row, const Target& target) const {
  double sum = 0;
  for (Index j : target) sum += get(row, j);
  return sum;
}

void TouchedRows::renumber(const std::vector<Index>& number) {
  for (int& j : cluster) j = static_cast<int>(number[j]);
  if (!expected) return;
  std::vector<Index> before(static_cast<std::size_t>(*std::max_element(number.begin(), number.end()) + 1));
  before.swap(at_visit);
  for (std::size_t j = 0; j < before.size(); ++j)
    if (number[j] >= 0) at_visit[number[j]] = before[j];
}

void TouchedRows::write(Writer& out, bool with_weights) const {
  out.list(std::vector<int>(rows.begin(), rows.end()));
  const bool all_one = std::all_of(weight.begin(), weight.end(), [](double w) { return w == 1; });
  out.list(all_one ? Vec() : weight);
  out.list(std::vector<int>(offset.begin(), offset.end()));
  out.list(cluster);
  out.list(value);
  write_weights(out, with_weights ? expected : nullptr);
  out.list(at_visit);
}

TouchedRows TouchedRows::read(Reader& in) {
  TouchedRows out;
  const auto rows = in.list<std::vector<int>>();
  out.rows.assign(rows.begin(), rows.end());
  out.weight = in.list<Vec>();
  if (out.weight.empty()) out.weight.assign(rows.size(), 1.0);
  const auto offset = in.list<std::vector<int>>();
  out.offset.assign(offset.begin(), offset.end());
  out.cluster = in.list<std::vector<int>>();
  out.value = in.list<Vec>();
  out.expected = read_weights(in);
  out.at_visit = in.list<std::vector<Index>>();
  return out;
}

TouchedSink::TouchedSink(const std::vector<Target>& targets, bool expects, std::vector<Index> every)
    : targets_(targets), n_targets_(targets.size()), expects_(expects), every_(std::move(every)) {
  for (std::size_t i = 0; i < targets.size(); ++i)
    for (Index j : targets[i]) {
      if (j >= static_cast<Index>(targets_of_.size())) targets_of_.resize(static_cast<std::size_t>(j + 1));
      targets_of_[j].push_back(i);
    }
}

void TouchedSink::begin(Index n_chunks) {
  chunk_.assign(static_cast<std::size_t>(n_chunks), RowsOfTargets(n_targets_));
  seen_.assign(every_.size(), std::vector<Index>(static_cast<std::size_t>(n_chunks)));
}

void TouchedSink::visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) {
  Vec mass(n_targets_);
  std::vector<std::size_t> touched;  // targets with any mass on the row
  std::vector<int> cluster;
  Vec value;
  for (Index n = 0; n < r.n; ++n) {
    cluster.clear(), value.clear(), touched.clear();
    for (Index l = 0; l < r.width; ++l) {
      const double x = r.value[n * r.width + l];
      if (x == 0) continue;
      cluster.push_back(r.sparse ? r.cluster[n * r.width + l] : static_cast<int>(l));
      value.push_back(x);
      if (cluster.back() >= static_cast<int>(targets_of_.size())) continue;
      for (std::size_t i : targets_of_[cluster.back()]) {
        if (mass[i] == 0) touched.push_back(i);
        mass[i] += x;
      }
    }
    TouchedRows& all = chunk_[static_cast<std::size_t>(chunk)].all;
    bool kept = false;
    for (std::size_t i : touched) {
      const double own = std::exchange(mass[i], 0.0);
      if (!every_.empty() && every_[i] > 1 && (own < least_sampled || seen_[i][chunk]++ % every_[i] != 0))
        continue;
      chunk_[static_cast<std::size_t>(chunk)].of[i].push_back(static_cast<int>(all.size()));
      kept = true;
    }
    if (!kept) continue;
    all.rows.push_back(rows[n]);
    all.weight.push_back(block.weight(n));
    all.cluster.insert(all.cluster.end(), cluster.begin(), cluster.end());
    all.value.insert(all.value.end(), value.begin(), value.end());
    all.offset.push_back(static_cast<Index>(all.value.size()));
  }
}

void TouchedSink::finish() {
  found_ = RowsOfTargets(n_targets_);
  std::size_t rows = 0, entries = 0;
  for (const RowsOfTargets& part : chunk_) {
    rows += part.all.rows.size();
    entries += part.all.value.size();
  }
  found_.all.reserve(rows, entries);
  for (RowsOfTargets& part : chunk_) found_.append(std::exchange(part, RowsOfTargets()));
  chunk_.clear();
  expect();
}

void TouchedSink::expect() {
  if (!expected_) return;
  found_.all.expected = expected_;
  found_.all.at_visit.resize(static_cast<std::size_t>(expected_->k));
  std::iota(found_.all.at_visit.begin(), found_.all.at_visit.end(), Index{0});
}

void TouchedSink::write_task(Writer& out) const {
  write_targets(out, targets_);
  out.flag(expects_);
  out.list(every_);
}

std::unique_ptr<Watch> TouchedSink::read(Reader& in) {
  const std::vector<Target> targets = read_targets(in);
  const bool expects = in.flag();
  return std::make_unique<TouchedSink>(targets, expects, in.list<std::vector<Index>>());
}

void TouchedSink::read_result(Reader& in, const std::shared_ptr<const Weights>& weights) {
  if (expects_) expected_ = weights;
  found_ = RowsOfTargets::read(in);
  expect();
}

void RowsOfTargets::append(const RowsOfTargets& other) {
  const int shift = static_cast<int>(all.size());
  all.append(other.all);
  for (std::size_t i = 0; i < other.of.size(); ++i)
    for (int at : other.of[i]) of[i].push_back(shift + at);
}

TouchedRows RowsOfTargets::rows_of(std::size_t target) const {
  std::vector<Index> which(of[target].begin(), of[target].end());
  const auto before = [&](Index a, Index b) { return all.rows[a] < all.rows[b]; };
  if (!std::is_sorted(which.begin(), which.end(), before)) std::sort(which.begin(), which.end(), before);
  return all.some(which);
}

void RowsOfTargets::write(Writer& out) const {
  all.write(out, false);
  out.integer(static_cast<std::int64_t>(of.size()));
  for (const std::vector<int>& rows : of) out.list(rows);
}

RowsOfTargets RowsOfTargets::read(Reader& in) {
  RowsOfTargets out;
  out.all = TouchedRows::read(in);
  for (std::int64_t left = in.integer(); left > 0; --left) out.of.push_back(in.list<std::vector<int>>());
  return out;
}

std::vector<TouchedRows> rows_of(const std::vector<RowsOfTargets>& batches, std::size_t target) {
  std::vector<TouchedRows> out;
  for (const RowsOfTargets& batch : batches) out.push_back(batch.rows_of(target));
  return out;
}

bool share_rows(const std::vector<RowsOfTargets>& batches, std::size_t a, std::size_t b) {
  return std::any_of(batches.begin(), batches.end(), [&](const RowsOfTargets& batch) {
    auto x = batch.of[a].begin(), y = batch.of[b].begin();
    while (x != batch.of[a].end() && y != batch.of[b].end()) {
      if (*x == *y) return true;
      ++(*x < *y ? x : y);
    }
    return false;
  });
}

// The summary `whole` of a batch without these rows and their entropy.
Summary WithoutWork::without(const Problem& problem, Pool& pool, const Batch& batch) const {
  const Summary& whole = *whole_;
  const TouchedRows& touched = *touched_;
  Summary out = whole;
  const Index n = static_cast<Index>(touched.rows.size());
  FeatureBlock block(problem.obs, batch.data);
  FeatureSum sum(problem.obs, batch.data, whole.k);
  if (touched.expected) sum.expect_under(*touched.expected, &touched.at_visit);
  Responsibilities r;
  r.k = r.width = whole.k;
  for (Index from = 0; from < n; from += block.block_rows()) {
    pool.poll();
    r.n = std::min(block.block_rows(), n - from);
    r.value.assign(static_cast<std::size_t>(r.n * r.k), 0.0);
    for (Index i = 0; i < r.n; ++i) {
      const double weight = touched.weight[from + i];
      for (Index e = touched.offset[from + i]; e < touched.offset[from + i + 1]; ++e) {
        r.value[i * r.k + touched.cluster[e]] = -weight * touched.value[e];
        out.entropy() += weight * x_log_x(touched.value[e]);
      }
    }
    block.load(touched.rows.data() + from, r.n);
    block.add_weighted(r, sum);
  }
  sum.finish(out.edit_t(0));
  return out;
}

WithoutWork::WithoutWork(Index batch, Reader& in)
    : BatchWork(batch, nullptr),
      whole_(std::make_shared<const Summary>(Summary::read(in))),
      own_(std::make_unique<TouchedRows>(TouchedRows::read(in))),
      touched_(own_.get()) {}

void WithoutWork::run(const Problem& problem, const Batch& data, Pool& pool) {
  rest = without(problem, pool, data);
}

// Each responsibility is sent with the number of its cluster, 12 bytes.
double WithoutWork::products_per_number(const Problem& problem) const {
  return static_cast<double>(problem.obs->n_features()) / 1.5;
}

void WithoutWork::write_task(Writer& out) const {
  Summary plain = *whole_;
  plain.memory = nullptr;
  plain.write(out);
  touched_->write(out, true);
}

std::vector<EditedPart> parts_without(const Problem& problem, Pool& pool, const State& state,
                                      const std::vector<TouchedRows>& touched) {
  std::vector<EditedPart> parts;
  std::vector<std::unique_ptr<WithoutWork>> work;
  for (std::size_t b = 0; b < touched.size(); ++b) {
    parts.push_back({touched[b].rows, *state.batch[b]});
    if (!touched[b].rows.empty())
      work.push_back(std::make_unique<WithoutWork>(static_cast<Index>(b), state.batch[b], touched[b]));
  }
  do_work(problem, pool, work, Sharing::batches);
  for (const auto& done : work) {
    Summary& rest = parts[static_cast<std::size_t>(done->batch)].rest = std::move(done->rest);
    rest.memory = nullptr;  // belongs to the previous assignments
  }
  return parts;
}

}  // namespace bnpvi::mixtures
