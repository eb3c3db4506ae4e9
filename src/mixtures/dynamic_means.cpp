#include "mixtures/dynamic_means.h"

#include <algorithm>
#include <limits>

namespace bnpvi::mixtures {

namespace {

struct Candidate {
  const DynamicCluster* old;  // null: new in this batch
  double gamma;               // 0 for a new one
  double entry;               // cost of being in use
  Index size;
  Vec mean, sum;
};

double squared_distance(const double* a, const double* b, Index d) {
  double sum = 0;
  for (Index j = 0; j < d; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

}  // namespace

DynamicBatch DynamicMeans::add(const double* x, Index n, Index ld, Pool& pool) {
  std::vector<Candidate> all;
  for (const DynamicCluster& old : known_) {
    const double age = static_cast<double>(old.age);
    all.push_back({&old, 1 / (1 / old.weight + age * costs_.tau), costs_.q * age, 0, old.centre, {}});
  }
  std::vector<int> label(static_cast<std::size_t>(n), -1);
  Vec row(static_cast<std::size_t>(d_));
  const auto load = [&](Index i) {
    for (Index j = 0; j < d_; ++j) row[j] = x[j * ld + i];
  };
  DynamicBatch out;
  for (bool changed = true; changed;) {
    changed = false;
    for (Index i = 0; i < n; ++i) {
      if (i % 1024 == 0) pool.poll();
      load(i);
      const int now = label[i];
      int best = now;
      double least = now < 0 ? std::numeric_limits<double>::infinity()
                             : squared_distance(row.data(), all[now].mean.data(), d_);
      int free = -1;  // a new cluster that has lost all its rows
      for (std::size_t k = 0; k < all.size(); ++k) {
        const Candidate& c = all[k];
        if (c.size == 0 && !c.old) {
          free = static_cast<int>(k);
          continue;
        }
        const double* centre = c.size > 0 ? c.mean.data() : c.old->centre.data();
        double cost = squared_distance(row.data(), centre, d_);
        if (c.size == 0) cost = c.entry + c.gamma / (1 + c.gamma) * cost;
        if (cost < least) {
          least = cost;
          best = static_cast<int>(k);
        }
      }
      if (costs_.lambda < least) {
        best = free >= 0 ? free : static_cast<int>(all.size());
        if (free < 0) all.push_back({nullptr, 0, costs_.lambda, 0, row, {}});
      }
      if (best == now) continue;
      changed = true;
      if (now >= 0) --all[now].size;
      Candidate& to = all[best];
      if (to.size == 0)
        for (Index j = 0; j < d_; ++j)
          to.mean[j] = to.old ? (to.gamma * to.old->centre[j] + row[j]) / (to.gamma + 1) : row[j];
      ++to.size;
      label[i] = best;
    }
    for (Candidate& c : all) c.sum.assign(static_cast<std::size_t>(d_), 0.0);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < d_; ++j) all[label[i]].sum[j] += x[j * ld + i];
    double objective = 0;
    for (Candidate& c : all) {
      if (c.size == 0) continue;
      for (Index j = 0; j < d_; ++j)
        c.mean[j] = (c.old ? c.gamma * c.old->centre[j] + c.sum[j] : c.sum[j]) /
                    (c.gamma + static_cast<double>(c.size));
      objective += c.entry;
      if (c.old) objective += c.gamma * squared_distance(c.mean.data(), c.old->centre.data(), d_);
    }
    for (Index i = 0; i < n; ++i) {
      load(i);
      objective += squared_distance(row.data(), all[label[i]].mean.data(), d_);
    }
    // Without this, rounding could make two partitions of equal cost alternate forever.
    if (!out.objective.empty() && !(objective < out.objective.back())) changed = false;
    out.objective.push_back(objective);
  }

  std::vector<DynamicCluster> next;
  std::vector<int> id(all.size(), -1);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Candidate& c = all[k];
    if (c.size > 0) {
      id[k] = c.old ? c.old->id : born_++;
      out.clusters.push_back({id[k], c.size, c.mean});
      next.push_back({id[k], c.gamma + static_cast<double>(c.size), 1, c.mean});
    } else if (c.old && costs_.q * static_cast<double>(c.old->age + 1) <= costs_.lambda) {
      DynamicCluster absent = *c.old;
      ++absent.age;
      next.push_back(std::move(absent));
    }
  }
  known_ = std::move(next);
  for (int k : label) out.label.push_back(id[k]);
  return out;
}

}  // namespace bnpvi::mixtures
