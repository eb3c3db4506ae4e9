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
    blocks.back()->logs = old->logs;
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
    now.logs = unit[i].logs;
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

void ShareTable::drop_unused() {
  std::vector<int> number(block.size(), -1);
  std::vector<std::shared_ptr<const ShareBlock>> used;
  for (UnitShares& u : unit) {
    int& to = number[u.block];
    if (to < 0) {
      to = static_cast<int>(used.size());
      used.push_back(block[u.block]);
    }
    u.block = to;
  }
  block.swap(used);
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
  out->drop_unused();
  return out;
}

std::shared_ptr<const ShareTable> ShareTable::without(
    const std::set<const Weights*>& gone, std::size_t size,
    const std::function<void(Index i, Vec& c)>& append) const {
  auto out = std::make_shared<ShareTable>(*this);
  auto fresh = std::make_shared<ShareBlock>();
  Vec logs;
  logs.reserve(size);
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const Index at = static_cast<Index>(i);
    if (!gone.count(weights(at))) continue;
    UnitShares now = remember(*fresh, static_cast<int>(block.size()), shares(at));
    for (int j = 0; j < now.n; ++j) fresh->share[now.from + static_cast<std::size_t>(j)].column = j;
    now.logs = logs.size();
    now.misses = unit[i].misses;
    now.wait = unit[i].wait;
    append(at, logs);
    out->unit[i] = now;
  }
  fresh->logs = std::make_shared<const Vec>(std::move(logs));
  out->block.push_back(fresh);
  out->drop_unused();
  return out;
}

Index ShareTable::n_weights() const {
  std::set<const Weights*> all;
  for (const auto& b : block)
    if (b->weights) all.insert(b->weights.get());
  return static_cast<Index>(all.size());
}

}  // namespace bnpvi
