#include "mixtures/target_rows.h"

#include <numeric>

#include "foundation/special.h"

namespace bnpvi::mixtures {

namespace {

constexpr double worth_moving = 0.01;  // responsibility from which a row is collected: a guess

}  // namespace

double MassOnRows::total() const { return std::accumulate(mass.begin(), mass.end(), 0.0); }

double joining_entropy(const Responsibilities& r, Index a, Index b) {
  double sum = 0;
  for (Index n = 0; n < r.n; ++n) {
    const double ra = r.get(n, a);
    if (ra == 0) continue;
    const double rb = r.get(n, b);
    if (rb > 0) sum += x_log_x(ra) + x_log_x(rb) - x_log_x(ra + rb);
  }
  return sum;
}

void TargetRows::begin(Index n_chunks) {
  found_.assign(targets_.size(), std::vector<Found>(static_cast<std::size_t>(n_chunks)));
}

void TargetRows::visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock&) {
  for (Index n = 0; n < r.n; ++n)
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const auto [a, b] = targets_[i];
      const double mass = r.get(n, a) + (b >= 0 ? r.get(n, b) : 0);
      if (mass == 0) continue;
      MassOnRows& where = found_[i][chunk].where;
      if (mass < worth_moving) {
        where.all = false;
        continue;
      }
      where.rows.push_back(rows[n]);
      where.mass.push_back(mass);
    }
  for (std::size_t i = 0; i < targets_.size(); ++i)
    if (targets_[i].b >= 0) found_[i][chunk].entropy += joining_entropy(r, targets_[i].a, targets_[i].b);
}

MassOnRows TargetRows::rows_of(std::size_t target) const {
  MassOnRows all;
  for (const Found& part : found_[target]) {
    all.rows.insert(all.rows.end(), part.where.rows.begin(), part.where.rows.end());
    all.mass.insert(all.mass.end(), part.where.mass.begin(), part.where.mass.end());
    all.all = all.all && part.where.all;
  }
  return all;
}

double TargetRows::entropy_of_joining(std::size_t target) const {
  double sum = 0;
  for (const Found& part : found_[target]) sum += part.entropy;
  return sum;
}

}  // namespace bnpvi::mixtures
