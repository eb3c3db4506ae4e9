#include "sampling/point_partition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "foundation/special.h"
#include "sampling/labels.h"

namespace bnpvi {

namespace {

// Up to this number of rows all results are improved by rebuilding clusters, with more rows only the best.
// (Times for 10,000 rows, 500 draws and 20 clusters: inst/bench/figures.csv.)
constexpr Index most_rows_rebuilt_often = 2000;

// The values f(0), ..., f(n) of PartitionLoss.
Vec values_of(PartitionLoss loss, Index n) {
  Vec f(static_cast<std::size_t>(n + 1));
  for (Index i = 0; i <= n; ++i) {
    const double x = static_cast<double>(i);
    f[i] = loss == PartitionLoss::binder ? x * x / 2 : x_log_x(x) / static_cast<double>(n);
  }
  return f;
}

// Less by more than rounding, so that rounding does not move rows back and forth.
bool clearly_less(double a, double b) { return a < b - 1e-10 * (std::abs(a) + std::abs(b)); }

// A partition that changes row by row, with its contingency tables against all draws. Cluster K is always
// empty.
class Search {
 public:
  Search(const Partitions& draws, const std::vector<int>& start, PartitionLoss loss, Index most)
      : draws_(&draws), most_(most), f_(values_of(loss, draws.n)), step_(f_.size()), label_(draws.n, -1) {
    for (std::size_t i = 0; i + 1 < f_.size(); ++i) step_[i] = f_[i + 1] - f_[i];
    begin_.push_back(0);
    for (Index k : draws.k) begin_.push_back(begin_.back() + k);
    reserve(number_of_clusters(start) + 1);
    for (Index i = 0; i < draws.n; ++i) put(i, start[i]);
  }

  const std::vector<int>& label() const { return label_; }
  Index k() const { return k_; }

  /// The mean loss, without a term that depends only on the draws.
  double loss() const {
    double sum = 0, shared = 0;
    for (Index a = 0; a < k_; ++a) sum += f_[size_[a]];
    for (int count : table_) shared += f_[count];
    return sum - 2 * shared / static_cast<double>(draws_->size());
  }

  void put(Index row, Index a) {
    if (a == k_) {
      ++k_;
      if (k_ == width_) reserve(2 * width_);
    }
    change(row, a, 1);
    label_[row] = static_cast<int>(a);
  }

  void take(Index row) {
    const Index a = label_[row];
    change(row, a, -1);
    label_[row] = -1;
    if (size_[a] == 0) close(a);
  }

  struct Place {
    Index cluster;
    double added;  // increase of the loss when the row is put there
  };

  /// The cluster, possibly the empty one, where the row increases the loss least.
  Place best_for(Index row) {
    shared_.assign(static_cast<std::size_t>(k_ + 1), 0.0);
    for (Index m = 0; m < draws_->size(); ++m) {
      const int* counts = table_.data() + cell(m, row);
      for (Index a = 0; a <= k_; ++a) shared_[a] += step_[counts[a]];
    }
    Place best{-1, std::numeric_limits<double>::infinity()};
    for (Index a = 0; a < (k_ < most_ ? k_ + 1 : k_); ++a) {
      const double added = step_[size_[a]] - 2 * shared_[a] / static_cast<double>(draws_->size());
      if (best.cluster < 0 || clearly_less(added, best.added)) best = {a, added};
    }
    return best;
  }

  /// Empties cluster a and allocates its rows anew, in random order.
  void rebuild(Index a, Stream& stream) {
    std::vector<Index> rows;
    for (Index i = 0; i < draws_->n; ++i)
      if (label_[i] == a) rows.push_back(i);
    draw_to_front(rows, static_cast<Index>(rows.size()), stream);
    for (Index i : rows) take(i);
    for (Index i : rows) put(i, best_for(i).cluster);
  }

  /// Moves rows, in random order, as long as this lowers the loss.
  void sweep_until_still(Stream& stream, Pool& pool) {
    for (bool moved = true; moved;) {
      moved = false;
      for (Index i : shuffled(draws_->n, stream)) {
        pool.poll();
        const Index from = label_[i];
        const bool alone = size_[from] == 1;
        const double before = added_by(i);
        take(i);
        const Place to = best_for(i);
        const bool better = clearly_less(to.added, before);
        put(i, better ? to.cluster : alone ? k_ : from);
        moved = moved || better;
      }
    }
  }

 private:
  Index cell(Index m, Index row) const { return (begin_[m] + draws_->label[m * draws_->n + row]) * width_; }

  void change(Index row, Index a, int by) {
    size_[a] += by;
    for (Index m = 0; m < draws_->size(); ++m) table_[cell(m, row) + a] += by;
  }

  // The contribution of a row to the loss in its present cluster.
  double added_by(Index row) const {
    const Index a = label_[row];
    double shared = 0;
    for (Index m = 0; m < draws_->size(); ++m) shared += step_[table_[cell(m, row) + a] - 1];
    return step_[size_[a] - 1] - 2 * shared / static_cast<double>(draws_->size());
  }

  // Removes the empty cluster a; the last cluster gets its number.
  void close(Index a) {
    const Index last = --k_;
    if (a == last) return;
    size_[a] = size_[last];
    size_[last] = 0;
    for (Index c = 0; c < begin_.back(); ++c) {
      table_[c * width_ + a] = table_[c * width_ + last];
      table_[c * width_ + last] = 0;
    }
    std::replace(label_.begin(), label_.end(), static_cast<int>(last), static_cast<int>(a));
  }

  void reserve(Index width) {
    std::vector<int> wider(static_cast<std::size_t>(begin_.back() * width), 0);
    for (Index c = 0; c < begin_.back() && width_ > 0; ++c)
      std::copy_n(table_.begin() + c * width_, width_, wider.begin() + c * width);
    table_ = std::move(wider);
    size_.resize(static_cast<std::size_t>(width), 0);
    width_ = width;
  }

  const Partitions* draws_;
  Index most_, k_ = 0, width_ = 0;
  Vec f_, step_, shared_;   // f_: f(x); step_: f(x + 1) − f(x)
  std::vector<int> label_;  // −1: the row is in no cluster at present
  std::vector<Index> size_;
  std::vector<Index> begin_;  // for each draw the first of its clusters, numbered over all draws
  std::vector<int> table_;    // (clusters of all draws) × width: number of rows in both clusters
};

// Allocates the rows of each cluster anew, as long as this lowers the loss.
void rebuild_until_still(Search& best, Stream& stream, Pool& pool) {
  for (bool lower = true; lower;) {
    lower = false;
    for (Index a = 0; a < best.k(); ++a) {
      Search tried = best;
      tried.rebuild(a, stream);
      tried.sweep_until_still(stream, pool);
      if (!clearly_less(tried.loss(), best.loss())) continue;
      best = std::move(tried);
      lower = true;
    }
  }
}

}  // namespace

Vec losses(const Partitions& draws, const std::vector<int>& label, PartitionLoss loss) {
  const Vec f = values_of(loss, draws.n);
  const Index k = number_of_clusters(label);
  Vec out;
  for (Index m = 0; m < draws.size(); ++m) {
    std::vector<Index> both(static_cast<std::size_t>(k * draws.k[m]), 0), of_a(k, 0), of_b(draws.k[m], 0);
    for (Index i = 0; i < draws.n; ++i) {
      const int b = draws.label[m * draws.n + i];
      ++both[label[i] * draws.k[m] + b];
      ++of_a[label[i]];
      ++of_b[b];
    }
    double sum = 0;
    for (Index count : of_a) sum += f[count];
    for (Index count : of_b) sum += f[count];
    for (Index count : both) sum -= 2 * f[count];
    out.push_back(std::max(0.0, sum));
  }
  return out;
}

PointPartition search_partition(const Partitions& draws, const std::vector<std::vector<int>>& starts,
                                PartitionLoss loss, Index most, std::uint64_t seed, Pool& pool) {
  std::vector<std::unique_ptr<Search>> ends(starts.size());
  const bool few = draws.n <= most_rows_rebuilt_often;
  pool.run(static_cast<Index>(starts.size()), [&](Index i) {
    Stream stream(seed, Purpose::point_partition, static_cast<std::uint64_t>(i));
    ends[i] = std::make_unique<Search>(draws, starts[i], loss, most);
    ends[i]->sweep_until_still(stream, pool);
    if (few) rebuild_until_still(*ends[i], stream, pool);
  });
  Search& best = **std::min_element(ends.begin(), ends.end(),
                                    [](const auto& a, const auto& b) { return a->loss() < b->loss(); });
  if (!few) {
    Stream stream(seed, Purpose::point_partition, static_cast<std::uint64_t>(starts.size()));
    rebuild_until_still(best, stream, pool);
  }
  const Vec of_draws = losses(draws, best.label(), loss);
  const double sum = std::accumulate(of_draws.begin(), of_draws.end(), 0.0);
  return {best.label(), sum / static_cast<double>(draws.size())};
}

}  // namespace bnpvi
