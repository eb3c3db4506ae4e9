#include "chains/filters/state_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bnpvi::chains {

void filter_states(const Chain& chain, const ClusterDensities& densities, const ObsModel& obs,
                   const Dataset& data, const SequenceRows& rows, Vec& ahead,
                   const std::function<void(const StatesOfRow&)>& tell) {
  const Index k = chain.k;
  FeatureBlock block(obs, data);
  Vec log_p, base(static_cast<std::size_t>(block.block_rows())), now(static_cast<std::size_t>(k)), next(now);
  for (Index from = 0; from < rows.size(); from += block.block_rows()) {
    const Index m = std::min(block.block_rows(), rows.size() - from);
    block.load(rows.rows.data() + from, m);
    densities.of(block, log_p);
    base_of(obs).log_base(data, rows.rows.data() + from, m, base.data());
    for (Index i = 0; i < m; ++i) {
      double top = -std::numeric_limits<double>::infinity(), sum = 0;
      for (Index j = 0; j < k; ++j) {
        log_p[j * m + i] += std::log(ahead[j]);
        top = std::max(top, log_p[j * m + i]);
      }
      for (Index j = 0; j < k; ++j) sum += std::exp(log_p[j * m + i] - top);
      const double density = top + std::log(sum);
      std::fill(next.begin(), next.end(), 0.0);
      const Index after = std::min(from + i + 1, rows.size() - 1);
      const double* p =
          chain.transition.data() + (rows.position.empty() ? 0 : chain.block(rows.position[after]));
      for (Index j = 0; j < k; ++j) {
        now[j] = std::exp(log_p[j * m + i] - density);
        for (Index l = 0; l < k; ++l) next[l] += now[j] * p[j * k + l];
      }
      tell({rows.rows[from + i], density + base[i], ahead.data(), now.data()});
      ahead.swap(next);
    }
  }
}

}  // namespace bnpvi::chains
