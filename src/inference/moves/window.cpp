#include "inference/moves/window.h"

#include <algorithm>

namespace bnpvi {

namespace {

bool share(const std::vector<std::uint64_t>& some, const std::vector<std::uint64_t>& others) {
  return std::find_first_of(some.begin(), some.end(), others.begin(), others.end()) != some.end();
}

}  // namespace

void in_windows(const MoveContext& context, Index n, const std::function<Evaluated(Index)>& evaluate,
                const std::function<bool(Index, Evaluated&)>& commit) {
  Index size = proposals_of_window;
  for (Index first = 0, in_window; first < n; first += in_window) {
    in_window = std::min(size, n - first);
    std::vector<Evaluated> window(static_cast<std::size_t>(in_window));
    const auto one = [&](Index i) { window[i] = evaluate(first + i); };
    context.pool.run(in_window, one);
    std::vector<std::uint64_t> changed;
    for (Index i = 0; i < in_window; ++i) {
      Evaluated& now = window[i];
      if (!changed.empty() && (now.rises || share(now.members, changed)))
        one(i);
      else
        now.late = !changed.empty();
      const std::vector<std::uint64_t> members = now.members;
      if (commit(first + i, now)) changed.insert(changed.end(), members.begin(), members.end());
      now = {};
    }
    size = changed.empty() ? std::min(2 * size, proposals_of_window) : 1;
  }
}

}  // namespace bnpvi
