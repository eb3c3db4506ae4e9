#include "networks/learn_blocks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bnpvi::networks {

namespace {

OwnedLabels by_decreasing_size(const std::vector<int>& labels, const Owners& owner) {
  const Index k = static_cast<Index>(owner.size());
  std::vector<Index> size(owner.size()), order(size.size()), place(size.size());
  for (int label : labels) ++size[label];
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size[a] > size[b]; });
  for (Index p = 0; p < k; ++p) place[order[p]] = p;
  OwnedLabels out;
  for (int label : labels) out.label.push_back(static_cast<int>(place[label]));
  for (Index a : order) out.owner.push_back(owner[a]);
  return out;
}

Vec one_hot(const std::vector<int>& labels, Index k) {
  Vec r(labels.size() * static_cast<std::size_t>(k));
  for (std::size_t i = 0; i < labels.size(); ++i) r[i * static_cast<std::size_t>(k) + labels[i]] = 1;
  return r;
}

// Most probable labels, renumbered 0 .. K − 1 over those that occur.
OwnedLabels most_probable(const SoftBlocks& soft, Index n) {
  OwnedLabels out;
  std::vector<int> number(static_cast<std::size_t>(soft.k()), -1);
  for (Index i = 0; i < n; ++i) {
    const double* r = soft.r().data() + i * soft.k();
    const Index most = std::max_element(r, r + soft.k()) - r;
    if (number[most] < 0) {
      number[most] = static_cast<int>(out.owner.size());
      out.owner.push_back(soft.owner()[most]);
    }
    out.label.push_back(number[most]);
  }
  return out;
}

void keep_soft(const SoftBlocks& soft, Blocks& fit) {
  fit.k = soft.k();
  fit.owner = soft.owner();
  fit.r = soft.r();
  fit.sizes = soft.sizes();
  fit.bound = soft.bound();
  for (Index a = 0; a < fit.k; ++a)
    for (Index b = 0; b < fit.k; ++b) {
      fit.n.push_back(soft.pairs(a, b));
      fit.s.push_back(soft.sum(a, b));
    }
}

void keep_labels(const Partition& partition, Blocks& fit) {
  fit.labels = partition.labels();
  fit.log_joint = partition.log_joint();
}

// The partition of the most probable labels; visited: after one more sweep over all nodes.
Partition by_soft(const SoftBlocks& soft, const Links& links, const LinkModel& model, double gamma,
                  bool visited) {
  OwnedLabels most = most_probable(soft, links.n());
  Partition out(links, model, gamma, std::move(most.label), nullptr, std::move(most.owner));
  std::vector<int> nodes(static_cast<std::size_t>(links.n()));
  std::iota(nodes.begin(), nodes.end(), 0);
  if (visited) out.sweep(nodes);
  return out;
}

SoftBlocks softened(const Links& links, const LinkModel& model, double gamma, const std::vector<int>& labels,
                    const Owners& owner) {
  const OwnedLabels start = by_decreasing_size(labels, owner);
  const Index k = static_cast<Index>(owner.size());
  return SoftBlocks(links, model, gamma, k, one_hot(start.label, k), start.owner);
}

}  // namespace

BlocksFit::BlocksFit(const Links& links, const LinkModel& model, const Degrees* degrees, double gamma,
                     OwnedLabels start, const SearchOptions& options, Pool& pool)
    : links_(links),
      model_(model),
      degrees_(degrees),
      gamma_(gamma),
      options_(options),
      pool_(pool),
      search_(Partition(links, model, gamma, std::move(start.label), degrees, std::move(start.owner)),
              options, pool) {}

LapRecord BlocksFit::lap(Index n) {
  if (hard()) return search_.lap(n);
  LapRecord record = soft_ && links_.n() > 1 ? soft_lap() : LapRecord();
  record.lap = n;
  record.elbo = bound_;
  record.k = soft_ ? soft_->k() : answer_->k;
  return record;
}

LapRecord BlocksFit::soft_lap() {
  pool_.poll();
  LapRecord record;
  soft_->lap();
  for (Index a = 0; options_.merges && a < soft_->k(); ++a)
    for (Index b = a + 1; b < soft_->k(); ++b) {
      // Only clusters of less than a node, which soft labels have emptied, can gain by joining: others were
      // tried.
      if (std::min(soft_->sizes()[a], soft_->sizes()[b]) > 1) continue;
      if (!can_join(soft_->owner()[a], soft_->owner()[b])) continue;
      pool_.poll();
      ++record.merges_tried;
      const SoftBlocks joined = soft_->merged(a, b);
      const double bound = joined.bound().sum();
      if (!(bound > soft_->bound().sum())) continue;
      options_.observer->replaced(soft_->bound().sum(), bound, [&] { return joined.anew().bound().sum(); });
      soft_.emplace(joined);
      ++record.merges;
      b = a;
    }
  bound_ = soft_->bound().sum();
  return record;
}

bool BlocksFit::next_phase(Why) {
  if (!hard()) return false;
  if (degrees_) {
    answer_ = by_partition();
    bound_ = answer_->bound.sum();
    return true;
  }
  const Partition& found = search_.partition();
  soft_.emplace(softened(links_, model_, gamma_, found.labels(), found.owners()));
  bound_ = soft_->bound().sum();
  return true;
}

void BlocksFit::keep() {
  if (hard()) return search_.keep();
  if (soft_) kept_.emplace(*soft_);
  kept_bound_ = bound_;
}

void BlocksFit::go_back() {
  if (hard()) return search_.go_back();
  if (soft_) soft_.emplace(*kept_);
  bound_ = kept_bound_;
}

void BlocksFit::write(Writer& out) const {
  search_.write(out);
  out.flag(hard());
  if (soft_) soft_->write(out);
}

void BlocksFit::read(Reader& in) {
  search_.read(in);
  if (in.flag()) return;
  next_phase(Why::converged);
  if (!soft_) return;
  soft_->read(in);
  bound_ = soft_->bound().sum();
}

Blocks BlocksFit::by_partition() const {
  Blocks fit;
  const Partition& found = search_.partition();
  OwnedLabels sorted = by_decreasing_size(found.labels(), found.owners());
  const Partition partition = found.with_labels(std::move(sorted.label), std::move(sorted.owner));
  keep_labels(partition, fit);
  fit.k = partition.k();
  fit.owner = partition.owners();
  fit.r = one_hot(fit.labels, fit.k);
  for (Index a = 0; a < fit.k; ++a) {
    fit.sizes.push_back(partition.size(a));
    for (Index b = 0; b < fit.k; ++b) {
      fit.n.push_back(partition.pairs(a, b));
      fit.s.push_back(partition.sum(a, b));
    }
  }
  fit.bound.data = partition.evidence();
  for (double y : links_.value()) fit.bound.base += model_.log_base(y);
  fit.bound.degrees = partition.degrees_evidence();
  fit.bound.allocation = stick_evidence(fit.sizes, gamma_);
  return fit;
}

Blocks BlocksFit::result() const {
  if (!soft_) return answer_ ? *answer_ : by_partition();
  Blocks fit;
  const Partition& found = search_.partition();
  fit.labels = by_decreasing_size(found.labels(), found.owners()).label;
  fit.log_joint = found.log_joint();
  keep_soft(*soft_, fit);
  const Partition again = by_soft(*soft_, links_, model_, gamma_, options_.births && options_.deletes);
  if (again.log_joint() > fit.log_joint && again.k() == soft_->k()) keep_labels(again, fit);
  return fit;
}

SampledBlocks::SampledBlocks(const Links& links, const LinkModel& model, double gamma,
                             const std::vector<int>& labels, const SampledOptions& options, Pool& pool)
    : SampledFit(links.n(), options, pool),
      links_(links),
      model_(model),
      gamma_(gamma),
      soft_(softened(links, model, gamma, labels,
                     Owners(1 + static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end()))))) {
}

void SampledBlocks::write(Writer& out) const {
  SampledFit::write(out);
  soft_.write(out);
}

void SampledBlocks::read(Reader& in) {
  SampledFit::read(in);
  soft_.read(in);
}

Blocks SampledBlocks::result() const {
  Blocks fit;
  keep_soft(soft_, fit);
  keep_labels(by_soft(soft_, links_, model_, gamma_, false), fit);
  return fit;
}

}  // namespace bnpvi::networks
