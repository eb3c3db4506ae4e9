// Clusters that are named by some of their terms.
#pragma once
#include <vector>

#include "observations/obs_model.h"

namespace bnpvi {

/// Terms by which clusters are named, and what is thought of their share.
struct Keywords {
  std::vector<std::vector<int>> lists;  // columns of each name, ascending
  double weight_of_others = 49;         // b: the share of a cluster's own keywords is Beta(1, b)
};

/// A Dirichlet prior of D terms with weights λ_v of total A ≥ Σ λ_v, as sums over clusters know it: what
/// predicts has the weights `mean` of total A (hierarchical_dirichlet.h).
struct TermPrior {
  const Vec& weight;
  const Vec& mean;
  const double& total;
};

/// Counts of a cluster with keywords S: a Dirichlet tree,
///   p ~ Beta(1, b) the share of its keywords;   φ_S / p ~ Dir(1, ..., 1);   φ_o / (1 − p) ~ Dir(λ_v, v ∉ S)
/// [Dennis 1991; Andrzejewski, Zhu and Craven 2009]. With n of its tokens keywords and m not, its Λ is that
/// of a cluster without name and
///   Δ(T) = log B(1 + n, b + m) − log B(1, b) − log B(λ_S + n, λ_o + m) + log B(λ_S, λ_o)
///          + DM(T_S; 1) − DM(T_S; λ_S),      λ_S = Σ_{v ∈ S} λ_v,  λ_o = A − λ_S.
///
/// Where λ has a posterior this is a lower bound, as Λ of the others is: given β the terms outside S have the
/// total A − even |S| − common Σ_S β_v, and −log(that + i) is convex in the log β_v of S, so that it is at
/// least its value at exp(E log β).
class KeywordTerms final : public ObsModel {
 public:
  /// `plain`, the model of the other clusters, and its prior must outlive this.
  KeywordTerms(const ObsModel& plain, TermPrior prior, std::vector<int> terms, double weight_of_others);

  const std::vector<int>& terms() const { return terms_; }
  /// Δ(T); tokens: of the cluster.
  double gain(const double* t, double tokens) const;

  Index n_features() const override { return plain_.n_features(); }
  Index n_columns() const override { return plain_.n_columns(); }
  Capabilities capabilities() const override;
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    plain_.features(data, rows, n, phi, ld);
  }
  double log_evidence(const double* t) const override;
  void weights(const double* t, double* w) const override;
  double evidence_and_weights(const double* t, double* w) const override;
  void point_estimate(const double* t, double* mean, double* w) const override;
  void draw(const double* t, Stream& stream, double* w) const override;
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override;
  /// The posterior is no Dirichlet distribution: the one with the same mean and as much weight in all, A + n
  /// + m.
  NamedArrays posterior(const double* t, Index k) const override;
  NamedArrays mean_parameters(const double* t, Index k) const override;

 private:
  double tokens(const double* t) const;
  double keyword_tokens(const double* t) const;
  void add_weights(const double* t, double* w) const;  // to those of a cluster without name
  Vec concentration(const double* t) const;            // within S and outside it
  Vec mean_shares(const double* t) const;

  const ObsModel& plain_;
  const TermPrior prior_;
  const std::vector<int> terms_;
  const double b_;
  double keywords_ = 0;            // |S|: of the weights of φ_S / p
  double sum_ = 0, mean_sum_ = 0;  // λ_S, and Σ_S mean
};

}  // namespace bnpvi
