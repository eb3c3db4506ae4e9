#include "mixtures/target_rows.h"

#include <algorithm>
#include <numeric>

#include "foundation/special.h"

namespace bnpvi::mixtures {

namespace {

constexpr double worth_moving = 0.01;  // responsibility from which a row is collected: a guess

}  // namespace

double MassOnRows::total() const { return std::accumulate(mass.begin(), mass.end(), 0.0); }

Vec MassOnRows::statistic(const ObsModel& obs, const Dataset& data, Pool& pool) const {
  FeatureBlock block(obs, data);
  const Index n = static_cast<Index>(rows.size()), m = static_cast<Index>(cluster.size());
  Vec t(static_cast<std::size_t>(obs.n_features()), 0.0), own;
  for (Index from = 0; from < n; from += block.block_rows()) {
    pool.poll();
    block.load(rows.data() + from, std::min(block.block_rows(), n - from));
    if (!expected) block.add_weighted(mass.data() + from, t.data());
    for (Index l = 0; l < m; ++l) {
      own.clear();
      for (Index i = from; i < from + block.n(); ++i) own.push_back(by_cluster[i * m + l]);
      block.add_weighted(own.data(), t.data(), expected->w.data() + cluster[l] * expected->p);
    }
  }
  return t;
}

Sample take_sample(const Problem& problem, const std::vector<MassOnRows>& by_batch, Index rows,
                   Stream& stream, MassOnRows& sample) {
  double mass = 0, all = 0;
  for (const MassOnRows& where : by_batch) {
    mass += where.total();
    all += static_cast<double>(where.rows.size());
  }
  const double chance = static_cast<double>(rows) / all;
  std::vector<Place> chosen;
  for (std::size_t b = 0; b < by_batch.size(); ++b)
    for (std::size_t i = 0; i < by_batch[b].rows.size(); ++i) {
      if (chance < 1 && stream.uniform() >= chance) continue;
      chosen.push_back({static_cast<Index>(b), by_batch[b].rows[i]});
      sample.mass.push_back(by_batch[b].mass[i]);
    }
  Sample copy = take_rows(problem.source, chosen, problem.obs->capabilities().lag);
  sample.rows = copy.rows;
  const double scale = mass / sample.total();
  if (chance < 1)
    for (double& m : sample.mass) m *= scale;
  return copy;
}

void write_weights(Writer& out, const std::shared_ptr<const Weights>& weights) {
  out.flag(weights != nullptr);
  if (!weights) return;
  out.integer(weights->k);
  out.integer(weights->p);
  out.list(weights->w);
}

std::shared_ptr<const Weights> read_weights(Reader& in) {
  if (!in.flag()) return nullptr;
  auto out = std::make_shared<Weights>();
  out->k = in.integer();
  out->p = in.integer();
  out->w = in.list<Buffer>();
  return out;
}

void write_targets(Writer& out, const std::vector<Target>& targets) {
  out.integer(static_cast<std::int64_t>(targets.size()));
  for (const Target& target : targets) out.list(target);
}

std::vector<Target> read_targets(Reader& in) {
  std::vector<Target> out;
  for (std::int64_t n = in.integer(); n > 0; --n) out.push_back(in.list<Target>());
  return out;
}

void MassOnRows::write(Writer& out) const {
  out.list(std::vector<int>(rows.begin(), rows.end()));
  out.list(mass);
  out.flag(all);
  write_weights(out, expected);
  out.list(cluster);
  out.list(by_cluster);
}

MassOnRows MassOnRows::read(Reader& in) {
  MassOnRows out;
  const auto rows = in.list<std::vector<int>>();
  out.rows.assign(rows.begin(), rows.end());
  out.mass = in.list<Vec>();
  out.all = in.flag();
  out.expected = read_weights(in);
  out.cluster = in.list<Target>();
  out.by_cluster = in.list<Vec>();
  return out;
}

double joining_entropy(const Responsibilities& r, const Target& joined, const FeatureBlock& block) {
  double sum = 0;
  for (Index n = 0; n < r.n; ++n) {
    double all = 0;
    int members = 0;
    for (Index j : joined) {
      const double x = r.get(n, j);
      all += x;
      members += x > 0;
    }
    if (members < 2) continue;
    const double weight = block.weight(n);
    for (Index j : joined) sum += weight * x_log_x(r.get(n, j));
    sum -= weight * x_log_x(all);
  }
  return sum;
}

void TargetRows::begin(Index n_chunks) {
  found_.assign(targets_.size(), std::vector<Found>(static_cast<std::size_t>(n_chunks)));
}

void TargetRows::visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) {
  for (Index n = 0; n < r.n; ++n)
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      double mass = 0;
      for (Index j : targets_[i]) mass += r.get(n, j);
      if (mass == 0) continue;
      MassOnRows& where = found_[i][chunk].where;
      if (mass < worth_moving) {
        where.all = false;
        continue;
      }
      where.rows.push_back(rows[n]);
      where.mass.push_back(block.weight(n) * mass);
      if (!expected_) continue;
      for (Index j : targets_[i]) where.by_cluster.push_back(block.weight(n) * r.get(n, j));
    }
  for (std::size_t i = 0; i < targets_.size(); ++i)
    if (targets_[i].size() > 1) found_[i][chunk].entropy += joining_entropy(r, targets_[i], block);
}

MassOnRows TargetRows::rows_of(std::size_t target) const {
  MassOnRows all;
  for (const Found& part : found_[target]) {
    all.rows.insert(all.rows.end(), part.where.rows.begin(), part.where.rows.end());
    all.mass.insert(all.mass.end(), part.where.mass.begin(), part.where.mass.end());
    all.by_cluster.insert(all.by_cluster.end(), part.where.by_cluster.begin(), part.where.by_cluster.end());
    all.all = all.all && part.where.all;
  }
  all.expected = expected_;
  if (expected_) all.cluster = targets_[target];
  return all;
}

void TargetRows::write_task(Writer& out) const {
  write_targets(out, targets_);
  out.flag(expects_);
}

std::unique_ptr<Watch> TargetRows::read(Reader& in) {
  std::vector<Target> targets = read_targets(in);
  return std::make_unique<TargetRows>(std::move(targets), in.flag());
}

void TargetRows::write_result(Writer& out) const {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    MassOnRows where = rows_of(i);
    where.expected = nullptr;  // the reader has the weights
    where.write(out);
    out.number(entropy_of_joining(i));
  }
}

void TargetRows::read_result(Reader& in, const std::shared_ptr<const Weights>& weights) {
  if (expects_) expected_ = weights;
  found_.clear();
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    Found one{MassOnRows::read(in), 0};
    one.entropy = in.number();
    found_.push_back({std::move(one)});
  }
}

double TargetRows::entropy_of_joining(std::size_t target) const {
  double sum = 0;
  for (const Found& part : found_[target]) sum += part.entropy;
  return sum;
}

}  // namespace bnpvi::mixtures
