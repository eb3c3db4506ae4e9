// The likelihood of latent features: a row is the sum of the loadings of its features, plus Gaussian noise.
#pragma once
#include <vector>

#include "features/rows.h"

namespace bnpvi::features {

/// Prior of loadings A and noise σ² in the model of a row x_n with features z_n:
///   x_n | z ~ N(z_nᵀA, σ² I), A_k | σ² ~ N(0, (σ²/ρ) I),
///   1/σ² ~ Gamma(a, rate b),  ρ ~ Gamma(c, rate d), or known.
struct LinearGaussianPrior {
  double a, b, c, d;
  double rho = 0;  // above 0: the known value of ρ
};

/// The posterior q(A, σ²) q(ρ) of loadings and noise. q(A, σ²) is conjugate, and joint over the features.
/// Columns that are observed in the same rows form a group g. Over these rows, S_zz and S_zx are the sums of
/// E z zᵀ and E z x. With ρ̄ = E ρ and V_g = ρ̄ I + S_zz, the loadings of a column in g have mean V_g⁻¹ S_zx
/// and covariance σ² V_g⁻¹.
struct Loadings {
  Index k = 0;
  Vec m;                       // means of the loadings, K features × D columns, row-major
  std::vector<Vec> v_inverse;  // V_g⁻¹ of each group g of columns, K × K
  double a = 0, b = 0;         // shape and rate of q(1/σ²)
  double c = 0, d = 0;         // shape and rate of q(ρ)
  double rho = 1;              // mean E ρ under q(ρ)
  double value = 0;            // contribution of the likelihood to the ELBO
  Vec gram;                    // E[A Aᵀ/σ²] = Σ_g gram_of_g, K × K
  std::vector<Vec> gram_of;    // for each group, its columns' part of gram: Σ_d (τ̂ M_d M_dᵀ + V_g⁻¹)

  double tau() const { return a / b; }  // expected noise precision E[1/σ²]
};

/// Finds the optimal q(A, σ²) of loadings and noise for these statistics. q(ρ) starts at that of `warm` and
/// is improved in a few rounds. The value is the log evidence of a multivariate regression with random
/// regressors. M: means of the K × D loadings; a hat: parameter of a posterior; D_g: number of columns in
/// group g:
///   value = Σ_g (D_g/2)(K log ρ̄ − log|V_g|) − (cells/2) log 2π + a log b − â log b̂ + lnΓ(â) − lnΓ(a)
///           + (KD/2)(E log ρ − log ρ̄) − KL(q(ρ) ‖ p(ρ)),
///   â = a + cells/2,  b̂ = b + ½(S_xx − ⟨S_zx, M⟩),  ĉ = c + KD/2,  d̂ = d + ½(τ̂|M|² + Σ_g D_g tr V_g⁻¹).
/// Throws std::domain_error if a V_g is not positive definite in double precision.
Loadings fit_loadings(const LinearGaussianPrior& prior, const Rows& rows, const Summary& total,
                      const Loadings& warm);

/// A lower bound of the value that fit_loadings() would find without feature j: the value at the same q(ρ).
/// It follows from row j of the present q alone. m_jd is the mean of the feature's loading in column d.
/// Without the feature, log|V_g| changes by log (V_g⁻¹)_jj, and ⟨S_zx, M⟩ by −Σ_g Σ_d m_jd² / (V_g⁻¹)_jj.
double value_without(const LinearGaussianPrior& prior, const Rows& rows, const Loadings& loadings, Index j);

/// Computes loadings.gram and loadings.gram_of, the second moments E[A Aᵀ/σ²] of the loadings. Only visits
/// (updates of q(z)) of rows need them.
void add_gram(const Rows& rows, Loadings& loadings);

}  // namespace bnpvi::features
