// Natural parameters of clusters, the weights by which features are multiplied.
#pragma once
#include "foundation/pool.h"
#include "observations/capabilities.h"

namespace bnpvi {

/// Weights ∇Λ(T_k) of K clusters (obs_model.h) in the layouts that products with features need.
struct Weights {
  Index k = 0;
  Index p = 0;
  Buffer w;           // weights of the clusters, K × p
  Buffer transposed;  // p × K, for models that are linear or have sparse entries; else empty
  // The dense part of w as Kernels::pack() lays it out, for products with many blocks; or empty.
  Buffer packed;

  void transpose(Pool* pool = nullptr);  // fills `transposed` from w
  void add_constants(const Vec& c);      // adds c to ⟨φ, w_k⟩ (φ_0 = 1); before pack()
  void pack(const ObsModel& obs,
            const DataShape& data);  // fills `packed` from w if products with these data use it
};

/// ∇Λ(T_k) for all clusters of t (K × p), computed on the pool's threads if there is one. evidence: if not
/// null, receives Λ(T_k), K numbers. products: false leaves `transposed` empty, so that a model that needs
/// it cannot form products. names: of the clusters (NamedClusters); empty: none has one.
///
/// In a model whose clusters with observations add a term to the objective (LearnedPrior::occupied_term),
/// weights let no row go to an empty cluster: even a tiny responsibility would cost the whole term, so that a
/// visit could lower the objective. Only moves and starts fill such clusters.
Weights make_weights(const ObsModel& obs, const double* t, Index k, Pool* pool = nullptr,
                     double* evidence = nullptr, bool products = true, const std::vector<int>& names = {});

/// Do products of rows with clusters add up the weights of single features? These are then read from
/// `transposed`.
inline bool has_entries(const ObsModel& obs) {
  const Capabilities can = obs.capabilities();
  return can.linear || can.entries;
}

/// The weights ∇Λ(T) of one cluster (p numbers), under which the missing cells of its rows are expected.
/// Empty for models without ExpectedCells.
Vec expecting_weights(const ObsModel& obs, const double* t);

/// Do products use the stored entries of sparse rows directly, without computing features?
inline bool by_sparse_rows(const ObsModel& obs, const DataShape& data) {
  return obs.capabilities().linear && data.sparse;
}

}  // namespace bnpvi
