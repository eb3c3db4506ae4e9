#include "inference/data/share_table.h"

#include <algorithm>

namespace bnpvi {

UnitShares remember(ShareBlock& block, int number, Shares share, const Vec& local) {
  UnitShares unit{number, static_cast<int>(share.size()), block.share.size()};
  unit.local = block.local.size();
  unit.n_local = static_cast<int>(local.size());
  block.local.insert(block.local.end(), local.begin(), local.end());
  block.share.insert(block.share.end(), share.begin(), share.end());
  return unit;
}

Shares ShareTable::shares(Index i) const {
  const UnitShares& u = unit[i];
  return {block[u.block]->share.data() + u.from, static_cast<std::size_t>(u.n)};
}

ShareTable ShareTable::changed(const std::function<void(std::vector<Share>&, double weight)>& change) const {
  std::vector<std::shared_ptr<ShareBlock>> blocks;
  for (const auto& old : block) {
    blocks.push_back(std::make_shared<ShareBlock>());
    blocks.back()->weights = old->weights;
    blocks.back()->logs = old->logs;
    blocks.back()->local = old->local;
    blocks.back()->share.reserve(old->share.size());
  }
  ShareTable out;
  out.unit.reserve(unit.size());
  std::vector<Share> share;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const Shares old = shares(static_cast<Index>(i));
    share.assign(old.begin(), old.end());
    change(share, unit[i].weight);
    const int number = unit[i].block;
    UnitShares now = remember(*blocks[number], number, share);
    now.logs = unit[i].logs;
    now.misses = unit[i].misses;
    now.wait = unit[i].wait;
    now.weight = unit[i].weight;
    now.local = unit[i].local;
    now.n_local = unit[i].n_local;
    out.unit.push_back(now);
  }
  out.block.assign(blocks.begin(), blocks.end());
  return out;
}

ShareTable ShareTable::renumbered(const std::vector<Index>& number) const {
  return changed([&](std::vector<Share>& share, double) {
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

ShareTable ShareTable::with(const std::vector<Index>& at, const ShareTable& newer, Index first) const {
  ShareTable out = *this;
  for (std::size_t i = 0; i < at.size(); ++i) {
    UnitShares& now = out.unit[at[i]];
    now = newer.unit[first + static_cast<Index>(i)];
    now.block += static_cast<int>(block.size());
  }
  out.block.insert(out.block.end(), newer.block.begin(), newer.block.end());
  out.drop_unused();
  return out;
}

ShareTable ShareTable::without(const std::set<const Weights*>& gone, std::size_t size,
                               const std::function<void(Index i, Vec& c)>& append) const {
  ShareTable out = *this;
  auto fresh = std::make_shared<ShareBlock>();
  Vec logs;
  logs.reserve(size);
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const Index at = static_cast<Index>(i);
    if (!gone.count(weights(at))) continue;
    const double* own = local(at);
    UnitShares now = remember(*fresh, static_cast<int>(block.size()), shares(at),
                              own ? Vec(own, own + unit[i].n_local) : Vec());
    for (int j = 0; j < now.n; ++j) fresh->share[now.from + static_cast<std::size_t>(j)].column = j;
    now.logs = logs.size();
    now.misses = unit[i].misses;
    now.wait = unit[i].wait;
    now.weight = unit[i].weight;
    append(at, logs);
    out.unit[i] = now;
  }
  fresh->logs = std::make_shared<const Vec>(std::move(logs));
  out.block.push_back(fresh);
  out.drop_unused();
  return out;
}

Index ShareTable::n_weights() const {
  std::set<const Weights*> all;
  for (const auto& b : block)
    if (b->weights) all.insert(b->weights.get());
  return static_cast<Index>(all.size());
}

namespace {

// Numbers the different objects that blocks share, from 1, so that each is written once; 0 stands for null.
template <class Value>
class Numbered {
 public:
  std::int64_t number(const Value* x) {
    if (!x) return 0;
    const auto at = std::find(all_.begin(), all_.end(), x);
    if (at == all_.end()) all_.push_back(x);
    return 1 + (std::find(all_.begin(), all_.end(), x) - all_.begin());
  }
  const std::vector<const Value*>& all() const { return all_; }

 private:
  std::vector<const Value*> all_;
};

template <class Value>
std::shared_ptr<const Value> by_number(const std::vector<std::shared_ptr<const Value>>& all, std::int64_t i) {
  return i == 0 ? nullptr : all.at(static_cast<std::size_t>(i - 1));
}

}  // namespace

void ShareTable::write(Writer& out, bool weights) const {
  Numbered<Weights> tables;
  Numbered<Vec> logs;
  for (const auto& b : block)
    if (weights) tables.number(b->weights.get()), logs.number(b->logs.get());
  out.integer(static_cast<std::int64_t>(tables.all().size()));
  for (const Weights* w : tables.all()) {
    out.integer(w->k);
    out.integer(w->p);
    out.list(w->w);
    out.list(w->transposed);
  }
  out.integer(static_cast<std::int64_t>(logs.all().size()));
  for (const Vec* c : logs.all()) out.list(*c);
  out.integer(static_cast<std::int64_t>(block.size()));
  for (const auto& b : block) {
    out.integer(weights ? tables.number(b->weights.get()) : 0);
    out.integer(weights ? logs.number(b->logs.get()) : 0);
    out.list(b->share);
    out.list(b->local);
  }
  out.list(unit);
}

ShareTable ShareTable::read(Reader& in, const std::shared_ptr<const Weights>& weights) {
  std::vector<std::shared_ptr<const Weights>> tables;
  for (std::int64_t n = in.integer(); n > 0; --n) {
    auto w = std::make_shared<Weights>();
    w->k = in.integer();
    w->p = in.integer();
    w->w = in.list<Buffer>();
    w->transposed = in.list<Buffer>();
    tables.push_back(std::move(w));
  }
  std::vector<std::shared_ptr<const Vec>> logs;
  for (std::int64_t n = in.integer(); n > 0; --n) logs.push_back(std::make_shared<const Vec>(in.list<Vec>()));
  ShareTable out;
  for (std::int64_t n = in.integer(); n > 0; --n) {
    auto b = std::make_shared<ShareBlock>();
    b->weights = by_number(tables, in.integer());
    b->logs = by_number(logs, in.integer());
    if (!b->weights && !b->logs) b->weights = weights;
    b->share = in.list<std::vector<Share>>();
    b->local = in.list<Vec>();
    out.block.push_back(std::move(b));
  }
  out.unit = in.list<std::vector<UnitShares>>();
  return out;
}

}  // namespace bnpvi
