// Natural parameters of clusters, by which features are multiplied.
#pragma once
#include "foundation/pool.h"
#include "observations/capabilities.h"

namespace bnpvi {

/// Weights ∇Λ(T_k) of K clusters (obs_model.h) in the layouts that products with features need.
struct Weights {
  Index k = 0;
  Index p = 0;
  Buffer w;           // K × p
  Buffer transposed;  // p × K, of models that are linear or have indicators; or empty
  Buffer packed;  // as Kernels::pack lays out the dense part of w, for products with many blocks; or empty

  void transpose(Pool* pool = nullptr);  // fills `transposed` from w
  void add_constants(const Vec& c);      // to ⟨φ, w_k⟩, for φ_0 = 1; before pack()
  void pack(const ObsModel& obs,
            const DataShape& data);  // fills `packed` from w, if products with these data use it
};

/// ∇Λ(T_k) for all clusters of t (K × p), on the threads of the pool if one is given. evidence: receives
/// Λ(T_k), K numbers, unless null. products: false leaves `transposed` empty in any case; products of models
/// that would have it can then not be formed. names: of the clusters (NamedClusters); empty: none has one.
///
/// No row goes to an empty cluster of a model with occupied terms (LearnedPrior): the first trace of a row
/// would cost the whole term, so that visits would lower the objective. Moves and starts fill such clusters.
Weights make_weights(const ObsModel& obs, const double* t, Index k, Pool* pool = nullptr,
                     double* evidence = nullptr, bool products = true, const std::vector<int>& names = {});

/// True when products add up the weights of single features of a row, which are then `transposed`.
inline bool has_entries(const ObsModel& obs) {
  const Capabilities can = obs.capabilities();
  return can.linear || can.entries;
}

/// ∇Λ(T) of one cluster (p), under which cells that its rows lack are expected; empty where no cells ever are
/// (ExpectedCells).
Vec expecting_weights(const ObsModel& obs, const double* t);

/// True when products use the stored entries of sparse rows, without features in memory.
inline bool by_sparse_rows(const ObsModel& obs, const DataShape& data) {
  return obs.capabilities().linear && data.sparse;
}

}  // namespace bnpvi
