#include "networks/learn_blocks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bnpvi::networks {

namespace {

std::vector<int> by_decreasing_size(const std::vector<int>& labels, Index k) {
  std::vector<Index> size(static_cast<std::size_t>(k)), order(size.size()), place(size.size());
  for (int label : labels) ++size[label];
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size[a] > size[b]; });
  for (Index p = 0; p < k; ++p) place[order[p]] = p;
  std::vector<int> out;
  for (int label : labels) out.push_back(static_cast<int>(place[label]));
  return out;
}

Vec one_hot(const std::vector<int>& labels, Index k) {
  Vec r(labels.size() * static_cast<std::size_t>(k));
  for (std::size_t i = 0; i < labels.size(); ++i) r[i * static_cast<std::size_t>(k) + labels[i]] = 1;
  return r;
}

// Most probable labels, with numbers 0 .. K − 1 of those that occur.
std::vector<int> most_probable(const SoftBlocks& soft, Index n) {
  std::vector<int> label, number(static_cast<std::size_t>(soft.k()), -1);
  int used = 0;
  for (Index i = 0; i < n; ++i) {
    const double* r = soft.r().data() + i * soft.k();
    int& is = number[std::max_element(r, r + soft.k()) - r];
    if (is < 0) is = used++;
    label.push_back(is);
  }
  return label;
}

void keep_soft(const SoftBlocks& soft, BlocksFit& fit) {
  fit.k = soft.k();
  fit.r = soft.r();
  fit.sizes = soft.sizes();
  fit.bound = soft.bound();
  for (Index a = 0; a < fit.k; ++a)
    for (Index b = 0; b < fit.k; ++b) {
      fit.n.push_back(soft.pairs(a, b));
      fit.s.push_back(soft.sum(a, b));
    }
}

void keep_labels(const Partition& partition, BlocksFit& fit) {
  fit.labels = partition.labels();
  fit.log_joint = partition.log_joint();
}

// The partition of the most probable labels, visited once more if wanted.
Partition by_soft(const SoftBlocks& soft, const Links& links, const LinkModel& model, double gamma,
                  bool visited) {
  Partition out(links, model, gamma, most_probable(soft, links.n()));
  std::vector<int> nodes(static_cast<std::size_t>(links.n()));
  std::iota(nodes.begin(), nodes.end(), 0);
  if (visited) out.sweep(nodes);
  return out;
}

}  // namespace

BlocksFit learn_blocks(const Links& links, const LinkModel& model, double gamma, std::vector<int> labels,
                       const SearchOptions& options, double tol, Pool& pool,
                       const std::function<void(LapRecord)>& told) {
  BlocksFit fit;
  Partition partition(links, model, gamma, std::move(labels));
  const SearchEnd end = search(partition, options, pool, told);
  fit.laps = end.laps;
  fit.k = partition.k();
  fit.labels = by_decreasing_size(partition.labels(), fit.k);
  SoftBlocks soft(links, model, gamma, fit.k, one_hot(fit.labels, fit.k));
  double now = soft.bound().sum();
  bool settled = links.n() < 2;
  for (Index lap = 0; lap < options.max_laps && !settled; ++lap) {
    pool.poll();
    LapRecord record;
    soft.lap();
    for (Index a = 0; options.merges && a < soft.k(); ++a)
      for (Index b = a + 1; b < soft.k(); ++b) {
        // Only clusters of less than a node, which soft labels have emptied, can gain by joining: others were
        // tried.
        if (std::min(soft.sizes()[a], soft.sizes()[b]) > 1) continue;
        pool.poll();
        ++record.merges_tried;
        if (soft.bound_of_merge(a, b) > soft.bound().sum()) {
          soft.merge(a, b);
          ++record.merges;
          b = a;
        }
      }
    const double before = now;
    now = soft.bound().sum();
    settled = now - before <= tol * (1 + std::abs(now));
    record.lap = ++fit.laps;
    record.elbo = now;
    record.k = soft.k();
    told(record);
  }
  fit.converged = settled && end.converged;
  fit.log_joint = partition.log_joint();
  keep_soft(soft, fit);
  const Partition again = by_soft(soft, links, model, gamma, options.births && options.deletes);
  if (again.log_joint() > fit.log_joint && again.k() == soft.k()) keep_labels(again, fit);
  return fit;
}

BlocksFit learn_corrected_blocks(const Links& links, const LinkModel& model, const Degrees& degrees,
                                 double gamma, std::vector<int> labels, const SearchOptions& options,
                                 Pool& pool, const std::function<void(LapRecord)>& told) {
  BlocksFit fit;
  Partition found(links, model, gamma, std::move(labels), &degrees);
  const SearchEnd end = search(found, options, pool, told);
  const Partition partition = found.with_labels(by_decreasing_size(found.labels(), found.k()));
  keep_labels(partition, fit);
  fit.k = partition.k();
  fit.r = one_hot(fit.labels, fit.k);
  for (Index a = 0; a < fit.k; ++a) {
    fit.sizes.push_back(partition.size(a));
    for (Index b = 0; b < fit.k; ++b) {
      fit.n.push_back(partition.pairs(a, b));
      fit.s.push_back(partition.sum(a, b));
    }
  }
  fit.bound.data = partition.evidence();
  for (double y : links.value()) fit.bound.base += model.log_base(y);
  fit.bound.degrees = partition.degrees_evidence();
  fit.bound.allocation = stick_evidence(fit.sizes, gamma);
  fit.converged = end.converged;
  LapRecord record;
  record.lap = fit.laps = end.laps + 1;
  record.elbo = fit.bound.sum();
  record.k = fit.k;
  told(record);
  return fit;
}

BlocksFit learn_blocks_sampled(const Links& links, const LinkModel& model, double gamma,
                               const std::vector<int>& labels, const SampledOptions& options, Pool& pool,
                               const std::function<void(LapRecord)>& told) {
  BlocksFit fit;
  const Index k = 1 + *std::max_element(labels.begin(), labels.end());
  SoftBlocks soft(links, model, gamma, k, one_hot(by_decreasing_size(labels, k), k));
  fit.laps = learn_sampled({[&](const std::vector<int>& nodes, double rate) { soft.step(nodes, rate); },
                            [] {}, [&] { soft.lap(); }, [&] { return soft.bound().sum(); }, k},
                           links.n(), options, pool, told);
  keep_soft(soft, fit);
  keep_labels(by_soft(soft, links, model, gamma, false), fit);
  return fit;
}

}  // namespace bnpvi::networks
