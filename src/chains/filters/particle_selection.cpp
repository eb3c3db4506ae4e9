#include "chains/filters/particle_selection.h"

#include <algorithm>
#include <functional>

namespace bnpvi::chains {

namespace {

/// The number of weights (descending) above c, and c.
struct Threshold {
  Index above;
  double c;
};

Threshold find_threshold(const Vec& descending, Index most) {
  Vec rest(descending.size() + 1);  // sums of the weights from each on, smallest first
  for (std::size_t i = descending.size(); i-- > 0;) rest[i] = rest[i + 1] + descending[i];
  const auto c = [&](Index above) { return rest[above] / static_cast<double>(most - above); };
  Index above = 0;  // ends below `most`: the rest of the last one is at least its own weight
  while (descending[above] > c(above)) ++above;
  return {above, c(above)};
}

}  // namespace

Selection select_particles(const Vec& weight, Index most, double u) {
  Selection out;
  std::vector<Index> all;
  Vec sorted;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (!(weight[i] > 0)) continue;
    all.push_back(static_cast<Index>(i));
    sorted.push_back(weight[i]);
  }
  if (static_cast<Index>(all.size()) <= most) {
    out.kept = std::move(all);
    out.weight = std::move(sorted);
    return out;
  }
  std::sort(sorted.begin(), sorted.end(), std::greater<double>());
  const Threshold t = find_threshold(sorted, most);
  // Among particles tied with the smallest weight that is kept, the first ones are kept.
  const double least = t.above > 0 ? sorted[t.above - 1] : 0;
  Index ties = t.above;
  for (Index i = 0; i < t.above; ++i) ties -= sorted[i] > least;
  const Index drawn = most - t.above;
  Index next = 0;  // number of the next draw; draw i is at (i + u) c along the other weights
  double line = 0;
  for (Index i : all) {
    const double w = weight[i];
    if (t.above > 0 && (w > least || (w == least && ties-- > 0))) {
      out.kept.push_back(i);
      out.weight.push_back(w);
      continue;
    }
    line += w;
    if (next < drawn && line > (static_cast<double>(next) + u) * t.c) {
      ++next;
      out.kept.push_back(i);
      out.weight.push_back(t.c);
    }
  }
  return out;
}

}  // namespace bnpvi::chains
