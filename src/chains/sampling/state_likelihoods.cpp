#include "chains/sampling/state_likelihoods.h"

#include <algorithm>

namespace bnpvi::chains {

SequenceRows all_sequences(const Dataset& data, Index lag) {
  SequenceRows out;
  for (Index g = 0; g < data.n_groups(); ++g) out.append(data, g, lag);
  return out;
}

StateLikelihoods::StateLikelihoods(const ObsModel& obs, const Dataset& data, const SequenceRows& rows,
                                   Pool& pool)
    : obs_(obs), rows_(rows), pool_(pool), block_(obs, data) {}

Vec StateLikelihoods::statistics(const std::vector<int>& label, Index k) {
  const Index p = obs_.n_features();
  Vec t(static_cast<std::size_t>(k * p), 0.0);
  for (Index from = 0; from < rows_.size(); from += block_.block_rows()) {
    const Index n = std::min(block_.block_rows(), rows_.size() - from);
    block_.load(rows_.rows.data() + from, n);
    const double* phi = block_.features();
    for (Index i = 0; i < n; ++i) {
      double* own = t.data() + label[from + i] * p;
      for (Index f = 0; f < p; ++f) own[f] += phi[i * block_.ld() + f];
    }
    pool_.poll();
  }
  return t;
}

void StateLikelihoods::draw(const Vec& t, Stream& stream) {
  parameters_ = {};
  parameters_.p = obs_.n_features();
  parameters_.k = static_cast<Index>(t.size()) / parameters_.p;
  parameters_.w.resize(t.size());
  for (std::size_t at = 0; at < t.size(); at += static_cast<std::size_t>(parameters_.p))
    obs_.draw(t.data() + at, stream, parameters_.w.data() + at);
  if (has_entries(obs_)) parameters_.transpose();
}

double* StateLikelihoods::of_rows(Index begin, Index end, const std::vector<int>& owner) {
  log_e_.resize(static_cast<std::size_t>((end - begin) * parameters_.k));
  log_likelihoods(block_, parameters_, owner, rows_.rows.data() + begin, end - begin, log_e_.data());
  return log_e_.data();
}

}  // namespace bnpvi::chains
