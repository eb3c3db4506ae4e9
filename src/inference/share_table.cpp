#include "inference/share_table.h"

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

ShareTable ShareTable::changed(const std::function<void(std::vector<Share>&)>& change) const {
  std::vector<std::shared_ptr<ShareBlock>> blocks;
  for (const auto& old : block) {
    blocks.push_back(std::make_shared<ShareBlock>());
    blocks.back()->weights = old->weights;
    blocks.back()->share.reserve(old->share.size());
  }
  ShareTable out;
  out.unit.reserve(unit.size());
  std::vector<Share> share;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const Shares old = shares(static_cast<Index>(i));
    share.assign(old.begin(), old.end());
    change(share);
    const int number = unit[i].block;
    UnitShares now = remember(*blocks[number], number, share);
    now.misses = unit[i].misses;
    now.wait = unit[i].wait;
    out.unit.push_back(now);
  }
  out.block.assign(blocks.begin(), blocks.end());
  return out;
}

ShareTable ShareTable::renumbered(const std::vector<Index>& number) const {
  return changed([&](std::vector<Share>& share) {
    for (Share& s : share) s.cluster = static_cast<int>(number[s.cluster]);
    share.erase(std::remove_if(share.begin(), share.end(), [](const Share& s) { return s.cluster < 0; }),
                share.end());
    std::sort(share.begin(), share.end(),
              [](const Share& a, const Share& b) { return a.cluster < b.cluster; });
  });
}

ShareTable ShareTable::with(const std::vector<Index>& at, const ShareTable& newer, Index first) const {
  ShareTable out = *this;
  for (std::size_t i = 0; i < at.size(); ++i) {
    UnitShares& now = out.unit[at[i]];
    now = newer.unit[first + static_cast<Index>(i)];
    now.block += static_cast<int>(block.size());
  }
  out.block.insert(out.block.end(), newer.block.begin(), newer.block.end());
  return out;
}

void ShareTable::write(Writer& out) const {
  std::vector<const Weights*> tables;
  const auto number = [&](const Weights* w) {
    return std::find(tables.begin(), tables.end(), w) - tables.begin();
  };
  for (const auto& b : block)
    if (number(b->weights.get()) == static_cast<std::ptrdiff_t>(tables.size()))
      tables.push_back(b->weights.get());
  out.integer(static_cast<std::int64_t>(tables.size()));
  for (const Weights* w : tables) {
    out.flag(w != nullptr);
    if (!w) continue;
    out.integer(w->k);
    out.integer(w->p);
    out.list(w->w);
    out.list(w->transposed);
  }
  out.integer(static_cast<std::int64_t>(block.size()));
  for (const auto& b : block) {
    out.integer(number(b->weights.get()));
    out.list(b->share);
  }
  out.list(unit);
}

ShareTable ShareTable::read(Reader& in) {
  std::vector<std::shared_ptr<const Weights>> tables;
  for (std::int64_t n = in.integer(); n > 0; --n) {
    std::shared_ptr<Weights> w;
    if (in.flag()) {
      w = std::make_shared<Weights>();
      w->k = in.integer();
      w->p = in.integer();
      w->w = in.list<Buffer>();
      w->transposed = in.list<Buffer>();
    }
    tables.push_back(std::move(w));
  }
  ShareTable out;
  for (std::int64_t n = in.integer(); n > 0; --n) {
    auto b = std::make_shared<ShareBlock>();
    b->weights = tables.at(static_cast<std::size_t>(in.integer()));
    b->share = in.list<std::vector<Share>>();
    out.block.push_back(std::move(b));
  }
  out.unit = in.list<std::vector<UnitShares>>();
  return out;
}

}  // namespace bnpvi
