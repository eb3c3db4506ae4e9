// Documents whose observations are rows of data, for sampling.
#pragma once
#include "sampling/row_features.h"
#include "topics/model/documents.h"

namespace bnpvi::topics {

/// Where the rows of each group (document) of the data begin: the rows of group g are starts[g] .. starts[g +
/// 1] − 1.
std::vector<Index> starts_of_groups(const RowFeatures& rows, const Dataset& data);

class RowDocuments final : public Documents {
 public:
  RowDocuments(const ObsModel& obs, const Dataset& data);
  RowDocuments(const ObsModel& obs, const LabelledDocuments& record);

  const std::vector<Index>* rows() const override { return &rows_.rows(); }
  std::unique_ptr<ObservationUrns> urns() const override;
  void add_to(double* t, Index i, double mass) const override;
  void append_to(LabelledDocuments& record, Index i) const override;
  double log_predictive(const Vec& t, const Vec& a, Index draws, std::uint64_t seed,
                        Pool& pool) const override;
  bool mend(double* t, double size_before) const override;
  bool whole_parts() const override { return false; }
  std::vector<int> cluster(const std::vector<std::vector<Index>>& parts, Index most, Stream& stream,
                           Pool& pool) const override;
  /// Divides a topic's statistic t among clusters. latest: the statistics of these clusters from the latest
  /// rows. Returns these statistics, all multiplied by the factor by which their sizes sum to the size of t:
  /// earlier rows are assumed to be like the latest ones.
  Vec divided(const double* t, const Vec& latest) const override;

 private:
  RowDocuments(const ObsModel& obs, RowFeatures rows, const Dataset& data);

  const ObsModel& obs_;
  const RowFeatures rows_;
  const Index p_;
};

}  // namespace bnpvi::topics
