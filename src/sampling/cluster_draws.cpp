#include "sampling/cluster_draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace bnpvi {

namespace {

constexpr Index draws_between_polls = 1 << 12;  // takes some milliseconds: a guess

}  // namespace

void ClusterDraws::place(Index i, std::vector<int>& label, Stream& stream, double mass) {
  if (++since_poll_ % draws_between_polls == 0) pool_.poll();
  const Index k = urns_.k();
  odds_.resize(static_cast<std::size_t>(k + 1));
  find_odds(i, odds_);
  const bool may_be_new = odds_[k] > 0;
  capped_ = capped_ || (may_be_new && k >= most_);
  if (!may_be_new || k >= most_) odds_.pop_back();
  weight_.resize(odds_.size());
  log_scale_ = urns_.weigh(i, odds_, weight_.data());
  const Index j = draw(weight_, stream);
  if (j < 0) throw std::domain_error("an observation has no probability in any cluster: numbers broke down");
  joins(i, j, stream);
  urns_.add(j, i, mass);
  label[i] = static_cast<int>(j);
}

void ClusterDraws::redraw(Index i, std::vector<int>& label, Stream& stream, double mass) {
  const int from = label[i];
  leaves(i, from);
  if (urns_.remove(from, i, mass)) {
    const int last = static_cast<int>(urns_.k()) - 1;
    urns_.drop(from);
    dropped(from);
    label[i] = -1;
    if (from != last) std::replace(label.begin(), label.end(), last, from);
  }
  place(i, label, stream, mass);
}

double ClusterDraws::log_predictive(double odds_of_any) const {
  return log_scale_ + std::log(std::accumulate(weight_.begin(), weight_.end(), 0.0) / odds_of_any);
}

}  // namespace bnpvi
