// Base class of models of probabilities with Beta priors: for zeros and ones, or successes among trials.
#pragma once
#include "observations/obs_model.h"

namespace bnpvi {

/// Columns of zeros and ones, independent given the cluster. Column j has a probability θ_j ~ Beta(a_j, b_j)
/// of a one. With S_j ones and F_j zeros in a cluster, q(θ_j) = Beta(a_j + S_j, b_j + F_j), and the log
/// evidence is Λ = Σ_j log B(a_j + S_j, b_j + F_j) − log B(a_j, b_j).
///
/// In a hierarchical prior (hierarchical_dirichlet.h) a and b are the mean weights, for predictions and
/// draws. Λ and its gradient use the smaller weights bound_a and bound_b, with the same total a_j + b_j: the
/// rest is a spare weight.
class BetaModel : public ObsModel {
 public:
  double log_evidence(const double* t) const final;
  NamedArrays posterior(const double* t, Index k) const final;
  NamedArrays mean_parameters(const double* t, Index k) const final;

 protected:
  BetaModel(const Vec& a, const Vec& b) : BetaModel(a, b, a, b) {}
  BetaModel(const Vec& a, const Vec& b, const Vec& bound_a, const Vec& bound_b)
      : a_(a), b_(b), bound_a_(bound_a), bound_b_(bound_b) {}

  /// The number of ones in column j of a cluster with statistic t; the next function returns the number of
  /// zeros. Rounding in sums and differences of summaries can make these numbers negative; implementations
  /// return at least 0.
  virtual double count_ones(const double* t, Index j) const = 0;
  virtual double count_zeros(const double* t, Index j) const = 0;

  Index columns() const { return static_cast<Index>(a_.size()); }
  double a(Index j) const { return a_[j]; }
  double b(Index j) const { return b_[j]; }
  double ones(const double* t, Index j) const { return a_[j] + count_ones(t, j); }
  double zeros(const double* t, Index j) const { return b_[j] + count_zeros(t, j); }
  /// The parameters of q(θ_j) for the log evidence, with the smaller prior weights; θ_j is the probability of
  /// a one in column j. Here: bound_a_j plus the number of ones. Next function: bound_b_j plus the number of
  /// zeros.
  double bound_ones(const double* t, Index j) const { return bound_a_[j] + count_ones(t, j); }
  double bound_zeros(const double* t, Index j) const { return bound_b_[j] + count_zeros(t, j); }

 private:
  Vec a_, b_, bound_a_, bound_b_;
};

/// The difference log B(a + one, b + zero) − log B(a, b) of log Beta functions, for one, zero ≥ 0.
double log_beta_gain(double a, double b, double one, double zero);

}  // namespace bnpvi
