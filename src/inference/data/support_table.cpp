#include "inference/data/support_table.h"

namespace bnpvi {

void SupportTable::renumber(const std::vector<Index>& number) {
  for (int* row = cluster.data(); row < cluster.data() + cluster.size(); row += width)
    for (int* slot = row; slot < row + width; ++slot) {
      if (*slot < 0) continue;
      const int now = static_cast<int>(number[*slot]);
      *slot = std::find(row, slot, now) == slot ? now : -1;
    }
}

}  // namespace bnpvi
