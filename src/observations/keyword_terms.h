// Clusters of counts with names. Each name has a list of keywords, which are some of the terms.
#pragma once
#include <vector>

#include "observations/obs_model.h"

namespace bnpvi {

/// The keywords of each name, and the prior of their share of a cluster's tokens.
struct Keywords {
  std::vector<std::vector<int>> lists;  // for each name its terms (columns), ascending
  Vec weight_of_others;                 // for each name b: its keywords have a share ~ Beta(1, b)
  std::vector<int> classes;             // for each name the class of labels that is called the same, 0: none
};

/// The Dirichlet prior over D terms of a cluster without a name. The log evidence Λ uses weights λ_v of terms
/// and a total A ≥ Σ λ_v. Predictions use the weights `mean`, which sum to A (hierarchical_dirichlet.h says
/// why).
struct TermPrior {
  const Vec& weight;
  const Vec& mean;
  const double& total;
};

/// The model of counts in a cluster with a list S of keywords; o are the other terms. The prior of the term
/// probabilities φ is a Dirichlet tree [Dennis 1991; Andrzejewski, Zhu and Craven 2009]. With p the share of
/// the keywords,
///   p ~ Beta(1, b) the share of its keywords;   φ_S / p ~ Dir(1, ..., 1);   φ_o / (1 − p) ~ Dir(λ_v, v ∉ S)
/// If n of the cluster's tokens are keywords and m are not, its log evidence Λ is that of a cluster without a
/// name plus
///   Δ(T) = log B(1 + n, b + m) − log B(1, b) − log B(λ_S + n, λ_o + m) + log B(λ_S, λ_o)
///          + DM(T_S; 1) − DM(T_S; λ_S),      λ_S = Σ_{v ∈ S} λ_v,  λ_o = A − λ_S.
/// DM is the log evidence of a Dirichlet–multinomial; λ and A are the weights and the total of TermPrior.
///
/// If the prior is hierarchical, Λ is a lower bound, as for clusters without a name. The reason: given the
/// shared proportions β, term v outside S has the prior weight even + common β_v, and these terms have the
/// total A' = A − even |S| − common Σ_S β_v. −log(A' + i) is convex in the log β_v of S, so its mean is at
/// least its value at exp(E log β).
class KeywordTerms final : public ObsModel {
 public:
  /// Keeps references to `plain`, the model of clusters without a name, and to the members of `prior`; both
  /// must outlive this object.
  KeywordTerms(const ObsModel& plain, TermPrior prior, std::vector<int> terms, double weight_of_others);

  const std::vector<int>& terms() const { return terms_; }
  /// Δ(T): by how much the keywords raise the log evidence of a cluster with statistic t. tokens: the number
  /// of tokens of the cluster.
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
  /// Parameters of a Dirichlet distribution with the mean of the posterior, which is not a Dirichlet
  /// distribution. Its total is A + n + m: the prior's total plus the number of tokens.
  NamedArrays posterior(const double* t, Index k) const override;
  NamedArrays mean_parameters(const double* t, Index k) const override;

 private:
  double tokens(const double* t) const;
  double keyword_tokens(const double* t) const;
  void add_weights(const double* t, double* w) const;  // Adds ∇Δ to the weights of a cluster without a name
  Vec concentration(const double* t) const;            // Dirichlet parameters, within S and outside S
  Vec mean_shares(const double* t) const;

  const ObsModel& plain_;
  const TermPrior prior_;
  const std::vector<int> terms_;
  const double b_;
  double keywords_ = 0;            // |S|, the total weight of the prior of φ_S / p
  double sum_ = 0, mean_sum_ = 0;  // λ_S, and the sum over S of the weights `mean`
};

}  // namespace bnpvi
