// Restarts of the local step of a document.
#include <algorithm>

#include "topics/model/document_step.h"

namespace bnpvi::topics {

namespace {

// Guesses.
constexpr Index max_restart_rounds = 10;
constexpr Index max_restarts = 25;  // of one document

}  // namespace

void DocStep::restarts(const DocumentView& view, DocumentFit& best) {
  std::vector<std::pair<double, int>> targets;
  for (const Share& s : best.share) targets.push_back({s.count, s.cluster});
  std::sort(targets.begin(), targets.end());
  if (static_cast<Index>(targets.size()) > max_restarts) targets.resize(max_restarts);
  for (const auto& target : targets) {
    const auto is_target = [&](const Share& s) { return s.cluster == target.second; };
    if (std::none_of(best.share.begin(), best.share.end(), is_target)) continue;
    if (best.share.size() == 1) break;
    topic_.clear();
    for (const Share& s : best.share)
      if (!is_target(s)) topic_.push_back(s.cluster);
    use(view);
    std::size_t j = 0;
    for (const Share& s : best.share)
      if (!is_target(s)) count_[j++] = s.count;
    weigh_by_counts();
    if (!ascend(view, max_restart_rounds, 0, best.bound) || bound() <= best.bound) continue;
    narrow(view, max_restart_rounds);
    if (fit(true).bound > best.bound) best = fit_;
  }
}

}  // namespace bnpvi::topics
