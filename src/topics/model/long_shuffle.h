// Random orders of so many items that shuffling takes seconds.
#pragma once
#include <utility>
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"

namespace bnpvi::topics {

/// Puts items in random order, the same order as that of draw_to_front(). The user can interrupt this
/// function.
template <class Item>
void shuffle(std::vector<Item>& items, Stream& stream, Pool& pool) {
  constexpr Index items_between_polls = 1 << 16;  // take some milliseconds: a guess
  const Index n = static_cast<Index>(items.size());
  for (Index i = 0; i < n; ++i) {
    if (i % items_between_polls == items_between_polls - 1) pool.poll();
    std::swap(items[i], items[i + stream.index(n - i)]);
  }
}

}  // namespace bnpvi::topics
