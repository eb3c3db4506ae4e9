// Random orders of very many items, which take seconds.
#pragma once
#include <utility>
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"

namespace bnpvi::topics {

/// Puts items in random order, the same as draw_to_front() does; the user can interrupt it.
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
