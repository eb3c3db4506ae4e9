// The local step of latent features: which features each row has, given the loadings.
#pragma once
#include <memory>
#include <utility>

#include "features/linear_gaussian.h"
#include "features/presence.h"
#include "foundation/pool.h"

namespace bnpvi::features {

/// The globals of a visit: K features; if `offset` is 1, the first is the offset, which all rows have.
struct LocalModel {
  const Rows& rows;
  const Loadings& loadings;    // with gram
  const Vec& logit;            // of the features behind the offset
  const std::vector<int>& id;  // of the same
  Index offset;
  Index sparsity;  // L, 0: all features. See Visiting::sweeps
  std::uint64_t seed;
  bool by_row = true;  // sweeps begin at a feature drawn for each row by its number; else at the same

  Index k() const { return loadings.k; }
};

/// How rows are visited. A sweep sets one ν after the other to its best value,
///   logit ν_nk = e_k + g_nk − ½ G_kk − Σ_{l≠k} G_kl ν_l,   g_n = τ̂ M x_n,  G = E[A Aᵀ/σ²] over observed
///   columns,
/// the features in turn from one that is drawn, until no ν changes by 1e-3 or `sweeps` were made. With L > 0
/// only the features present and the L with the largest of these are swept: ν = 0 for the others is the
/// exact optimum under that constraint. Rows begin with what they had; fresh: once without any feature and
/// once with ν from the prior and the evidence of each feature alone, to end where the bound is higher, after
/// which pairs of features are exchanged for as long as that raises it; best: in all these ways.
struct Visiting {
  enum class Start { remembered, fresh, best };
  Index sweeps = 20;  // 0: statistics of ν as it is
  Start start = Start::remembered;
};

/// Statistics and presence after a visit of the rows of a batch; `before` has these rows. With `bound` (a
/// number a row), also what each row adds to the bound given q of everything else, but its −½ log 2π a cell
/// and E log of the noise.
struct Visited {
  std::shared_ptr<const Summary> summary;
  std::shared_ptr<const Presence> presence;
};
Visited visit(const LocalModel& model, const RowBatch& batch, const Presence& before, const Visiting& how,
              Pool& pool, double* bound = nullptr);

/// X − E[Z A] of the rows of a batch under `presence`, row-major; 0 where missing.
Buffer residuals(const LocalModel& model, const RowBatch& batch, const Presence& presence, Pool& pool);

}  // namespace bnpvi::features
