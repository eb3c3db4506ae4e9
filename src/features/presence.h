// The features of each row, q(z), as stored between visits.
#pragma once
#include <utility>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::features {

/// Which features the rows of a batch have: entries ν_nk = q(z_nk = 1) > 0, the probability that row n has
/// feature k. Features are given by identities, which moves do not change. Entries of features that no longer
/// exist are ignored.
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

/// A copy of `before` in which {ν_a, ν_b}, the probabilities of features a and b, are replaced in each row by
/// change(ν_a, ν_b). a and b are identities. A feature that the row does not have counts as probability 0.
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

/// The position of each identity: place[id] is the position of id in `ids`, the identities of the features in
/// use. It is −1 for an identity that is not in use.
std::vector<int> places_of(const std::vector<int>& ids);

}  // namespace bnpvi::features
