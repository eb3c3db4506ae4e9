// q(z): which features each row has, as remembered between visits.
#pragma once
#include <vector>

#include "foundation/types.h"

namespace bnpvi::features {

/// ν_nk = q(z_nk = 1) of the rows of a batch where it is above 0, under the identities of the features, which
/// no move changes: a feature that is gone is simply not looked for.
struct Presence {
  std::vector<Index> start{0};  // rows + 1
  std::vector<int> feature;     // identities
  Vec value;

  Index rows() const { return static_cast<Index>(start.size()) - 1; }
  void add(int id, double nu) {
    feature.push_back(id);
    value.push_back(nu);
  }
  void end_row() { start.push_back(static_cast<Index>(feature.size())); }
};

/// A table of n rows that have no feature.
inline Presence no_presence(Index n) {
  Presence out;
  out.start.assign(static_cast<std::size_t>(n + 1), 0);
  return out;
}

/// Places of identities among the features in use; −1: not there.
std::vector<int> places_of(const std::vector<int>& ids);

}  // namespace bnpvi::features
