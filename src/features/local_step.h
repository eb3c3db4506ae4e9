// The local step of latent features: computes q(z), the features of each row, given the loadings.
#pragma once
#include <memory>
#include <utility>

#include "features/linear_gaussian.h"
#include "features/presence.h"
#include "foundation/pool.h"

namespace bnpvi::features {

/// What a visit (update of q(z)) of rows needs of the parameters' posterior, for K features. offset: 1 if the
/// first feature is the offset, which all rows have; else 0.
struct LocalModel {
  const Rows& rows;
  const Loadings& loadings;  // must have their second moments (add_gram())
  const Vec& logit;          // prior log odds of the features after the offset
  // identities of the features after the offset: numbers that moves do not change
  const std::vector<int>& id;
  Index offset;
  Index sparsity;  // the most features of a row in a sweep, L of Visiting; 0: all features
  std::uint64_t seed;
  /// True: the sweeps of a row begin at a feature drawn by the row's number; false: the sweeps of all rows
  /// begin at the same feature.
  bool by_row = true;

  Index k() const { return loadings.k; }
};

/// How ν_nk = q(z_nk = 1) is found for the rows of a batch. A sweep starts at a randomly drawn feature and
/// sets the ν of one feature after the other to its optimum,
///   logit ν_nk = e_k + g_nk − ½ G_kk − Σ_{l≠k} G_kl ν_l,   g_n = τ̂ M x_n,  G = E[A Aᵀ/σ²] over observed
///   columns.
/// e_k: prior log odds; M: means of the loadings A; τ̂: expected precision of the noise. Sweeps end when no ν
/// changes by 1e-3, or after `sweeps` sweeps. With L > 0 a sweep includes only the features that the row has
/// and the L features with the largest logits. ν = 0 for the others is the exact optimum under this
/// constraint.
///
/// start says where sweeps begin. `remembered`: at the previous ν of the row. `fresh`: once at no feature,
/// and once at the ν that each feature gets on its own (RowStep::set_alone()). The result with the higher
/// bound is kept, and pairs of features are exchanged as long as that raises the bound. `best`: all of these
/// ways.
struct Visiting {
  enum class Start { remembered, fresh, best };
  Index sweeps = 20;  // largest number of sweeps; 0: only statistics are computed, at the present ν
  Start start = Start::remembered;
};

/// The result of a visit of the rows of a batch: their statistics, and their presence, that is, q(z).
struct Visited {
  std::shared_ptr<const Summary> summary;
  std::shared_ptr<const Presence> presence;
};
/// Updates q(z) of the rows of a batch. before: q(z) of the same rows before the visit. bound (one number per
/// row, or null): receives the part of the row's bound that depends on its own q(z) (RowStep::bound()).
Visited visit(const LocalModel& model, const RowBatch& batch, const Presence& before, const Visiting& how,
              Pool& pool, double* bound = nullptr);

/// The residuals X − E[Z A] of the rows of a batch, row-major; 0 where a cell is missing. presence: q(z), the
/// features of the rows.
Buffer residuals(const LocalModel& model, const RowBatch& batch, const Presence& presence, Pool& pool);

}  // namespace bnpvi::features
