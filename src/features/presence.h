// The features of each row, q(z), as stored between visits.
#pragma once
#include <utility>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::features {

/// The features of the rows of a batch: probabilities ν_nk = q(z_nk = 1) > 0 that row n has feature k, with
/// the identities of the features. Moves do not change identities; entries of features that no longer exist
/// are ignored.
struct Presence {
  std::vector<Index> start{0};  // where each row's entries begin; one more number than rows
  std::vector<int> feature;     // identity of the feature of each entry
  Vec value;

  Index rows() const { return static_cast<Index>(start.size()) - 1; }
  void add(int id, double nu) {
    feature.push_back(id);
    value.push_back(nu);
  }
  void end_row() { start.push_back(static_cast<Index>(feature.size())); }
};

/// Makes a table of n rows that have no features.
inline Presence no_presence(Index n) {
  Presence out;
  out.start.assign(static_cast<std::size_t>(n + 1), 0);
  return out;
}

/// A copy of `before` in which the probabilities {ν_a, ν_b} that a row has features a and b are replaced by
/// change(ν_a, ν_b), in each row. change() receives 0 for an identity that the row does not have.
template <class Change>
Presence change_pair(const Presence& before, int a, int b, Change change) {
  Presence out;
  for (Index i = 0; i < before.rows(); ++i) {
    double nu_a = 0, nu_b = 0;
    for (Index e = before.start[i]; e < before.start[i + 1]; ++e) {
      if (before.feature[e] == a)
        nu_a = before.value[e];
      else if (before.feature[e] == b)
        nu_b = before.value[e];
      else
        out.add(before.feature[e], before.value[e]);
    }
    const std::pair<double, double> now = change(nu_a, nu_b);
    if (now.first > 0) out.add(a, now.first);
    if (now.second > 0) out.add(b, now.second);
    out.end_row();
  }
  return out;
}

/// A table of positions by identity: place[id] is the position of id in `ids`, the identities of the features
/// in use; −1: the identity is not in use.
std::vector<int> places_of(const std::vector<int>& ids);

}  // namespace bnpvi::features
