#include "share_table.h"

#include <algorithm>

namespace bnpvi {

UnitShares remember(ShareBlock& block, int number, Shares share) {
  const UnitShares unit{number, static_cast<int>(share.size()), block.share.size()};
  block.share.insert(block.share.end(), share.begin(), share.end());
  return unit;
}

Shares ShareTable::shares(Index i) const {
  const UnitShares& u = unit[i];
  return {block[u.block]->share.data() + u.from, static_cast<std::size_t>(u.n)};
}

std::shared_ptr<const ShareTable> ShareTable::changed(
    const std::function<void(std::vector<Share>&)>& change) const {
  std::vector<std::shared_ptr<ShareBlock>> blocks;
  for (const auto& old : block) {
    blocks.push_back(std::make_shared<ShareBlock>());
    blocks.back()->weights = old->weights;
    blocks.back()->share.reserve(old->share.size());
  }
  auto out = std::make_shared<ShareTable>();
  out->unit.reserve(unit.size());
  std::vector<Share> share;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const Shares old = shares(static_cast<Index>(i));
    share.assign(old.begin(), old.end());
    change(share);
    const int number = unit[i].block;
    UnitShares now = remember(*blocks[number], number, share);
    now.misses = unit[i].misses;
    now.wait = unit[i].wait;
    out->unit.push_back(now);
  }
  out->block.assign(blocks.begin(), blocks.end());
  return out;
}

std::shared_ptr<const UnitMemory> ShareTable::renumbered(const std::vector<Index>& number) const {
  return changed([&](std::vector<Share>& share) {
    for (Share& s : share) s.cluster = static_cast<int>(number[s.cluster]);
    share.erase(std::remove_if(share.begin(), share.end(), [](const Share& s) { return s.cluster < 0; }),
                share.end());
    std::sort(share.begin(), share.end(),
              [](const Share& a, const Share& b) { return a.cluster < b.cluster; });
  });
}

std::shared_ptr<const ShareTable> ShareTable::with(const std::vector<Index>& at, const ShareTable& newer,
                                                   Index first) const {
  auto out = std::make_shared<ShareTable>(*this);
  for (std::size_t i = 0; i < at.size(); ++i) {
    UnitShares& now = out->unit[at[i]];
    now = newer.unit[first + static_cast<Index>(i)];
    now.block += static_cast<int>(block.size());
  }
  out->block.insert(out->block.end(), newer.block.begin(), newer.block.end());
  return out;
}

}  // namespace bnpvi
