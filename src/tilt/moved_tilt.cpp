// Where the search for a tilt begins after clusters have joined, or have changed places.
#include <algorithm>

#include "observations/linalg.h"
#include "tilt/tilt.h"

namespace bnpvi {

namespace {

constexpr double most = 1 - 1e-9;  // the largest mean of a stick

}  // namespace

Tilt joined_tilt(const TiltPrior& prior, const Tilt& q, Index a, Index b) {
  const Index width = tilt_width(prior), p = prior.columns;
  Tilt out = q;
  const double* of_b = q.data() + b * width;
  double rest = 1, weight_a = 0, weight_b = 0;
  for (Index j = 0; j <= b; ++j) {
    const double *own = q.data() + j * width, u = own[0] / (own[0] + own[1]);
    if (j == a) weight_a = u * rest;
    weight_b = u * rest;
    rest *= 1 - u;
  }
  rest = 1;
  for (Index j = 0; j < b; ++j) {
    double *own = out.data() + j * width, all = own[0] + own[1], weight = own[0] / all * rest, before = rest;
    rest -= weight;
    if (j < a) continue;
    if (j == a) {
      weight += weight_b;
    } else {
      before -= weight_b;
      all *= before / (before + weight_b);
    }
    const double u = std::min(weight / before, most);
    own[0] = u * all;
    own[1] = (1 - u) * all;
  }
  double* joined = out.data() + a * width + 2;
  of_b += 2;
  const double share = weight_b / (weight_a + weight_b);
  for (Index i = 0; i < p; ++i) joined[i] += share * (of_b[i] - joined[i]);
  for (Index i = 0; i < p; ++i)
    for (Index l = 0; l <= i; ++l)
      joined[p + packed(i, l)] += of_b[p + packed(i, l)] - (i == l ? 1 / prior.variance : 0);
  out.erase(out.begin() + b * width, out.begin() + (b + 1) * width);
  return out;
}

Tilt tilt_in_order(const TiltPrior& prior, const Tilt& q, const std::vector<Index>& order) {
  const Index width = tilt_width(prior), k = static_cast<Index>(order.size());
  Vec weight, size;  // of each cluster; size: what is in its stick and not in the next one
  double rest = 1;
  for (Index j = 0; j < k && !prior.finite; ++j) {
    const double *own = q.data() + j * width, all = own[0] + own[1];
    weight.push_back(own[0] / all * rest);
    rest *= own[1] / all;
    const double next = j + 1 < k ? own[width] + own[width + 1] : 1 + prior.concentration;
    size.push_back(std::max(all - next, 0.0));
  }
  Tilt out;
  for (Index j : order) out.insert(out.end(), q.begin() + j * width, q.begin() + (j + 1) * width);
  out.insert(out.end(), q.begin() + k * width, q.end());
  double all = 1 + prior.concentration;
  for (Index i = k; i-- > 0 && !prior.finite;) {
    rest += weight[order[i]];
    all += size[order[i]];
    const double u = std::min(weight[order[i]] / rest, most);
    out[i * width] = u * all;
    out[i * width + 1] = (1 - u) * all;
  }
  return out;
}

}  // namespace bnpvi
