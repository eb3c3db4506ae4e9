#include "sampling/partners.h"

namespace bnpvi {

namespace {
constexpr Index candidates = 32;  // rows among which the best fitting partner is sought: a guess
}  // namespace

Index draw_partner(Index row, const RowFeatures& rows, Urns& scratch, double* phi, Stream& stream) {
  const auto other = [&] {
    const Index i = stream.index(rows.n() - 1);
    return i < row ? i : i + 1;
  };
  if (stream.uniform() < 0.5) return other();
  scratch.clear();
  scratch.add(0, rows.of(row, phi));
  Index best = -1;
  double most = 0;
  for (Index c = 0; c < candidates; ++c) {
    const Index i = other();
    double predictive[2];
    scratch.predictives(rows.of(i, phi), 2, predictive);
    const double gain = predictive[0] - predictive[1];
    if (best >= 0 && gain <= most) continue;
    best = i;
    most = gain;
  }
  return best;
}

}  // namespace bnpvi
