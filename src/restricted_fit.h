// A small mixture fitted to the mass that one cluster has on some rows.
#pragma once
#include "alloc_mixture.h"
#include "state.h"

namespace bnpvi {

/// Rows with the mass that may be moved on each.
struct MassOnRows {
  std::vector<Index> rows;
  Vec mass;

  void keep_every(Index step);
};

/// Splits the mass that a target cluster has on some rows among k clusters, everything else held fixed:
/// r'_nj = mass_n p_nj with p_n the restricted local step [Hughes 2016, eq. 4.16]. Cluster 0 keeps the
/// target's remaining statistic (`base`: its rows elsewhere) unless that is less than one observation, when
/// the cluster that explains it best takes it over and becomes cluster 0.
///
/// The change of entropy is exact: Σ_n mass_n H(p_n).
class RestrictedFit {
 public:
  RestrictedFit(const Problem& problem, const MixtureAlloc& alloc, Pool& pool, const Summary& total, Index target,
                const MassOnRows& where);

  /// Begins with the base (if any) and k further clusters of the given statistics (k × p).
  void start(const Vec& t, Index k);

  /// Alternates restricted local steps, merges that raise the objective and removal of clusters below
  /// one observation, until the number of clusters settles.
  void improve();

  Index k() const { return k_; }
  const double* moved(Index j) const { return moved_.data() + j * p_; }  // statistic on the moved rows
  double entropy_change() const { return entropy_; }
  void leave(double* t) const;                                           // t −= statistic of the moved mass

 private:
  void local_step();
  bool drop_small();
  bool merge_pairs();
  void join(Index a, Index b);  // cluster b joins a < b
  Vec log_weights() const;
  double allocation_value() const;
  Vec posterior_statistics() const;  // base and moved together, k × p
  double pair_entropy(Index a, Index b) const;

  const Problem& problem_;
  const MixtureAlloc& alloc_;
  Pool& pool_;
  const MassOnRows& where_;
  const Index p_;
  Index k_ = 0;
  Vec others_;     // sizes of all other clusters
  Vec base_;       // p
  Vec focus_;      // p: statistic of the mass on the rows
  Vec moved_;      // k × p
  Vec current_;    // k × p: what the local step believes, base included
  Vec share_;      // p_nj, rows × k
  double entropy_ = 0;
};

}  // namespace bnpvi
