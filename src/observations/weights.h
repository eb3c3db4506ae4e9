// Natural parameters of clusters: the weights by which the features of rows are multiplied.
#pragma once
#include "foundation/pool.h"
#include "observations/capabilities.h"

namespace bnpvi {

/// Weights of K clusters, by which the features of rows are multiplied: w_k = ∇Λ(T_k), the gradient of the
/// log evidence at the cluster's statistic (obs_model.h). They are kept in the layouts that products with
/// features need.
struct Weights {
  Index k = 0;
  Index p = 0;
  Buffer w;           // weights of the clusters, K × p
  Buffer transposed;  // p × K, for models that are linear or have sparse entries; else empty
  // The dense part of w in the layout of Kernels::pack(), for products with many blocks of rows; or empty.
  Buffer packed;

  void transpose(Pool* pool = nullptr);  // fills `transposed` from w
  void add_constants(const Vec& c);      // adds c to ⟨φ, w_k⟩ (φ_0 = 1); before pack()
  void pack(const ObsModel& obs,
            const DataShape& data);  // fills `packed` from w if products with these data use it
};

/// Computes the weights ∇Λ(T_k) of K clusters with statistics t (K × p), on the pool's threads if there is
/// one.
///   evidence: if not null, receives the log evidences Λ(T_k), K numbers.
///   products: false leaves `transposed` empty; a model that needs it can then form no products.
///   names: the clusters' names (NamedClusters); empty: no cluster has one.
///
/// In some models a cluster with observations adds a term to the objective (LearnedPrior::occupied_term).
/// There, the weights of an empty cluster let no row join it: even a tiny responsibility would cost the whole
/// term, so a visit could lower the objective. Only moves and starts fill such clusters.
Weights make_weights(const ObsModel& obs, const double* t, Index k, Pool* pool = nullptr,
                     double* evidence = nullptr, bool products = true, const std::vector<int>& names = {});

/// Whether products of rows with clusters add up the weights of single features, read from `transposed`. It
/// is so in models whose rows have few nonzero features.
inline bool has_entries(const ObsModel& obs) {
  const Capabilities can = obs.capabilities();
  return can.linear || can.entries;
}

/// The weights (p numbers) of one cluster with statistic t, from which the expectations of missing cells are
/// computed. Empty for models without ExpectedCells.
Vec expecting_weights(const ObsModel& obs, const double* t);

/// Whether products use the stored entries of sparse rows directly, without computing features.
inline bool by_sparse_rows(const ObsModel& obs, const DataShape& data) {
  return obs.capabilities().linear && data.sparse;
}

}  // namespace bnpvi
