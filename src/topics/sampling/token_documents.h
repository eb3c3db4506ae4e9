// Documents whose observations are single tokens of counts, for sampling.
#pragma once
#include "topics/model/documents.h"
#include "topics/model/tokens.h"

namespace bnpvi::topics {

class TokenDocuments final : public Documents {
 public:
  TokenDocuments(const ObsModel& obs, const Dataset& counts);
  TokenDocuments(const ObsModel& obs, const LabelledDocuments& record);

  std::unique_ptr<ObservationUrns> urns() const override;
  void add_to(double* t, Index i, double mass) const override;
  void append_to(LabelledDocuments& record, Index i) const override;
  double log_predictive(const Vec& t, const Vec& a, Index draws, std::uint64_t seed,
                        Pool& pool) const override;
  bool mend(double* t, double size_before) const override;
  bool whole_parts() const override { return true; }
  std::vector<int> cluster(const std::vector<std::vector<Index>>& parts, Index most, Stream& stream,
                           Pool& pool) const override;
  /// Divides a topic's statistic t among clusters. latest: the statistics of these clusters from the latest
  /// tokens. Earlier tokens of word w are divided in proportion to n (n_w + λ_w)/(n + Λ). n: number of a
  /// cluster's tokens in `latest`; n_w: number of these that are word w; λ: Dirichlet prior of the terms
  /// (words); Λ: its sum.
  Vec divided(const double* t, const Vec& latest) const override;

 private:
  TokenDocuments(const ObsModel& obs, Tokens tokens);

  const Vec& lambda_;
  const double total_;  // Λ, the sum of λ
  const Index p_;
  std::vector<int> word_;
};

}  // namespace bnpvi::topics
