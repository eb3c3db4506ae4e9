#include "topics/sampling/row_documents.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sampling/row_urns.h"
#include "sampling/truncation_free.h"
#include "topics/moves/part_chain.h"

namespace bnpvi::topics {

namespace {

constexpr Index rows_at_once = 256;  // a guess
constexpr double nothing = 1e-9;     // parts of a topic's size below this are rounding errors of subtraction

// Single rows in clusters.
class RowClusters {
 public:
  RowClusters(const ObsModel& obs, const RowFeatures& rows, const std::vector<std::vector<Index>>& parts)
      : rows_(rows), parts_(parts), urns_(obs), phi_(static_cast<std::size_t>(rows.p())) {}

  Index k() const { return urns_.k(); }
  Index parts(Index j) const { return urns_.count(j); }
  double log_evidence(Index j) const { return urns_.log_evidence(j); }
  void log_predictives(Index i, Index n, double* out) { urns_.predictives(features(i), n, out); }
  void add(Index j, Index i) { urns_.add(j, features(i)); }
  void remove(Index j, Index i) { urns_.remove(j, features(i)); }
  void drop(Index j) { urns_.drop(j); }

 private:
  const double* features(Index i) { return rows_.of(parts_[i].front(), phi_.data()); }

  const RowFeatures& rows_;
  const std::vector<std::vector<Index>>& parts_;
  Urns urns_;
  Vec phi_;
};

}  // namespace

std::vector<Index> starts_of_groups(const RowFeatures& rows, const Dataset& data) {
  std::vector<Index> starts{0};
  std::size_t i = 0;
  for (Index g = 0; g < data.n_groups(); ++g) {
    while (i < rows.rows().size() && rows.rows()[i] < data.starts[g + 1]) ++i;
    starts.push_back(static_cast<Index>(i));
  }
  return starts;
}

RowDocuments::RowDocuments(const ObsModel& obs, const Dataset& data)
    : RowDocuments(obs, RowFeatures(obs, data), data) {}

RowDocuments::RowDocuments(const ObsModel& obs, RowFeatures rows, const Dataset& data)
    : Documents(starts_of_groups(rows, data)), obs_(obs), rows_(std::move(rows)), p_(obs.n_features()) {}

RowDocuments::RowDocuments(const ObsModel& obs, const LabelledDocuments& record)
    : Documents(starts_of(record)), obs_(obs), rows_(obs, record.phi), p_(obs.n_features()) {}

std::unique_ptr<ObservationUrns> RowDocuments::urns() const { return std::make_unique<RowUrns>(obs_, rows_); }

void RowDocuments::add_to(double* t, Index i, double mass) const { rows_.add_to(t, i, mass); }

void RowDocuments::append_to(LabelledDocuments& record, Index i) const {
  Vec buffer(static_cast<std::size_t>(p_));
  const double* phi = rows_.of(i, buffer.data());
  record.phi.insert(record.phi.end(), phi, phi + p_);
}

double RowDocuments::log_predictive(const Vec& t, const Vec& a, Index draws, std::uint64_t seed,
                                    Pool& pool) const {
  Urns urns(obs_);
  urns.begin_with(t.data(), static_cast<Index>(t.size()) / p_);
  const Index k = static_cast<Index>(a.size());
  // p(row | topic) / exp(top of the row).
  Vec probability(static_cast<std::size_t>(n() * k)), top(static_cast<std::size_t>(n()));
  pool.run((n() + rows_at_once - 1) / rows_at_once, [&](Index task) {
    pool.poll();
    Vec buffer(static_cast<std::size_t>(p_));
    for (Index i = task * rows_at_once; i < std::min(n(), (task + 1) * rows_at_once); ++i) {
      double* out = probability.data() + i * k;
      urns.predictives(rows_.of(i, buffer.data()), k, out);
      top[i] = exp_where_possible(a, out);
    }
  });
  std::vector<int> own(static_cast<std::size_t>(n()));
  std::iota(own.begin(), own.end(), 0);
  return sequential_sum(own, probability, a, draws, seed, pool) +
         std::accumulate(top.begin(), top.end(), 0.0);
}

bool RowDocuments::mend(double* t, double size_before) const {
  if (t[0] > nothing * size_before) return std::isfinite(obs_.log_evidence(t));
  std::fill_n(t, p_, 0.0);
  return true;
}

std::vector<int> RowDocuments::cluster(const std::vector<std::vector<Index>>& parts, Index most,
                                       Stream& stream, Pool& pool) const {
  RowClusters clusters(obs_, rows_, parts);
  return most_probable_clusters(clusters, static_cast<Index>(parts.size()), 1, sweeps_of_split, most, stream,
                                pool);
}

Vec RowDocuments::divided(const double* t, const Vec& latest) const {
  double n = 0;
  for (std::size_t a = 0; a < latest.size(); a += static_cast<std::size_t>(p_)) n += latest[a];
  Vec out = latest;
  for (double& x : out) x *= t[0] / n;
  return out;
}

}  // namespace bnpvi::topics
