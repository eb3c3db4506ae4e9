#include "topics/moves/topic_edit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "topics/model/topic_sum.h"
#include "topics/moves/documents_work.h"

namespace bnpvi::topics {

const ShareTable& memory_of(const State& state, Index batch) { return state.batch[batch]->memory->shares; }

Shares shares_of(const State& state, const DocumentRef& ref) {
  return memory_of(state, ref.batch).shares(ref.at);
}

DocumentReader& PlacedReader::at(const DocumentRef& ref) {
  if (ref.batch != ref_.batch) {
    close();
    batch_ = problem_.source.open(ref.batch);
    reader_.emplace(problem_.obs, batch_->data);
  }
  ref_ = ref;
  return *reader_;
}

void PlacedReader::close() {
  reader_.reset();
  batch_.reset();
  ref_ = {-1, -1};
}

DocumentView PlacedReader::recall(const ShareTable& memory, Index at) {
  return reader_->recall(batch_->units[ref_.at], memory, at);
}

std::vector<DocumentRef> documents_with(const State& state, const std::function<bool(Shares)>& such) {
  std::vector<DocumentRef> out;
  for (std::size_t b = 0; b < state.batch.size(); ++b) {
    const ShareTable& memory = memory_of(state, static_cast<Index>(b));
    for (Index i = 0; i < static_cast<Index>(memory.unit.size()); ++i)
      if (such(memory.shares(i))) out.push_back({static_cast<Index>(b), i});
  }
  return out;
}

std::vector<DocumentRef> users_of(const State& state, Index topic, double least) {
  return documents_with(state, [&](Shares shares) {
    return std::any_of(shares.begin(), shares.end(),
                       [&](const Share& s) { return s.cluster == topic && s.count >= least; });
  });
}

bool uses(Shares shares, Index topic) {
  return std::any_of(shares.begin(), shares.end(), [&](const Share& s) { return s.cluster == topic; });
}

double count_of(Shares shares, Index topic) {
  for (const Share& s : shares)
    if (s.cluster == topic) return s.count;
  return 0;
}

bool touches(const Room& room, Shares shares) {
  if (std::any_of(room.dropped.begin(), room.dropped.end(), [&](Index j) { return uses(shares, j); }))
    return true;
  return std::any_of(room.joined.begin(), room.joined.end(), [&](const auto& pair) {
    if (!uses(shares, pair.second)) return false;
    return uses(shares, pair.first) ||
           std::any_of(room.joined.begin(), room.joined.end(), [&](const auto& other) {
             return other.first == pair.first && other.second != pair.second && uses(shares, other.second);
           });
  });
}

namespace {

// The shares of a document and the weights of topics under changes of the topics (Changes).
struct ChangedShares {
  std::vector<Share> list;

  void merge(Index a, Index b) {
    const double joined = count_of(list, b);
    const bool both = uses(list, a);
    for (Share& s : list)
      if (both && s.cluster == a)
        s.count += joined;
      else if (!both && s.cluster == b)
        s.cluster = static_cast<int>(a);
    drop(b);
    sort();
  }
  void drop(Index j) {
    list.erase(std::remove_if(list.begin(), list.end(), [j](const Share& s) { return s.cluster == j; }),
               list.end());
    for (Share& s : list)
      if (s.cluster > j) --s.cluster;
  }
  void append(Index) {}
  void permute(const std::vector<Index>& order) {
    for (Share& s : list)
      s.cluster = static_cast<int>(std::find(order.begin(), order.end(), s.cluster) - order.begin());
    sort();
  }
  void sort() {
    std::stable_sort(list.begin(), list.end(),
                     [](const Share& x, const Share& y) { return x.cluster < y.cluster; });
  }
};

struct ChangedWeights {
  Vec& value;  // K + 1

  void merge(Index a, Index b) {
    value[a] += value[b];
    drop(b);
  }
  void drop(Index j) { value.erase(value.begin() + j); }
  void append(Index m) { value.insert(value.end() - 1, static_cast<std::size_t>(m), 0.0); }
  void permute(const std::vector<Index>& order) {
    const Vec old = value;
    for (std::size_t j = 0; j < order.size(); ++j) value[j] = old[order[j]];
  }
};

std::vector<Share> changed(const Changes& changes, std::vector<Share> shares) {
  ChangedShares out{std::move(shares)};
  changes.apply(out);
  return std::move(out.list);
}

}  // namespace

TopicEdit::TopicEdit(const MoveContext& context, const TopicAlloc& alloc, const State& state,
                     std::vector<DocumentRef> documents, Changes changes, Index search_every)
    : Edit(context, std::move(changes)),
      topics(state.total),
      weights_of_topics(alloc.mean_weights(state.globals)),
      alloc_(alloc),
      state_(state),
      documents_(std::move(documents)),
      search_every_(search_every) {
  rest_ = state.total;
  move(Documents::out_as_before, 0, n(), rest_);
  apply(changes_);
  for (const DocumentRef& ref : documents_) {
    const Shares last = shares_of(state, ref);
    start.push_back(changed(changes_, {last.begin(), last.end()}));
  }
}

void TopicEdit::begin_again(const Changes& more) {
  changes_.then(more);
  topics = proposed().total;
  weights_of_topics = alloc_.mean_weights(proposed().globals);
  apply(more);
  for (std::vector<Share>& list : start) list = changed(more, std::move(list));
  begin();
}

void TopicEdit::apply(const Changes& changes) {
  changes.apply(rest_);
  changes.apply(topics);
  ChangedWeights changed{weights_of_topics};
  changes.apply(changed);
}

void TopicEdit::move(Documents how, Index from, Index to, Summary& sum) const {
  const Problem& problem = c_.problem;
  const bool as_before = how == Documents::out_as_before;
  const Index n_chunks = TopicAlloc::count_chunks(to - from), at_once = c_.pool.n_threads();
  std::vector<TopicSum> sums;
  const auto add_up = [&](Index chunk, TopicSum& part) {
    PlacedReader placed(problem);
    for (Index i = from + (to - from) * chunk / n_chunks; i < from + (to - from) * (chunk + 1) / n_chunks;
         ++i) {
      const DocumentRef& ref = documents_[i];
      DocumentReader& reader = placed.at(ref);
      const ShareTable& memory = as_before ? memory_of(state_, ref.batch) : visited_;
      const Index at = as_before ? ref.at : i;
      const DocumentView view = placed.recall(memory, at);
      part.add(reader, view, memory.shares(at));
    }
  };
  for (Index first = 0; first < n_chunks; first += at_once) {
    const Index n = std::min(at_once, n_chunks - first);
    sums.clear();
    for (Index i = 0; i < n; ++i)
      sums.emplace_back(problem.obs, problem.source.shape(), sum.k, alloc_.alpha(), alloc_.width(),
                        alloc_.response());
    c_.pool.run(n, [&](Index i) { add_up(first + i, sums[i]); });
    for (TopicSum& part : sums) part.finish(sum, as_before ? -1 : 1);
  }
}

// Every task has the topics with it, from which each process makes tables: some 25 ns for each of K x V
// numbers, where a document takes some 10 us to visit (2,000 documents of 80 words). Two processes save half
// of that.
bool TopicEdit::worth_sending(Index k) const {
  constexpr double numbers_per_document = 200;
  Index tasks = n() > 0;
  for (Index i = 1; i < n(); ++i) tasks += documents_[i].batch != documents_[i - 1].batch;
  const double sent = static_cast<double>(k) * static_cast<double>(c_.problem.source.shape().d * tasks);
  return static_cast<double>(n()) * numbers_per_document > sent;
}

void TopicEdit::visit(const Globals& globals, Summary& total) {
  const Problem& problem = c_.problem;
  const bool search = rounds() % search_every_ == 0;
  Globals without_weights = globals;
  without_weights.weights = nullptr;
  const auto at = globals_for_work(problem, std::move(without_weights));
  const bool sent = problem.workers && worth_sending(globals.effective.k);
  const auto shared = sent ? nullptr
                           : std::make_shared<const DocumentVisits>(alloc_, problem.obs,
                                                                    problem.source.shape(), *at, c_.pool);
  std::vector<std::unique_ptr<DocumentsWork>> work;
  for (Index from = 0, to; from < n(); from = to) {
    std::vector<Index> documents;
    for (to = from; to < n() && documents_[to].batch == documents_[from].batch; ++to)
      documents.push_back(documents_[to].at);
    work.push_back(std::make_unique<DocumentsWork>(
        documents_[from].batch, at, std::move(documents),
        std::vector<std::vector<Share>>(start.begin() + from, start.begin() + to), search, shared));
  }
  if (sent) {
    do_work(problem, c_.pool, work);
  } else {
    for (const auto& one : work) do_here(problem, c_.pool, *one);
  }
  visited_ = {};
  for (const auto& done : work) {
    const ShareTable& found = done->found;
    for (Index i = 0; i < static_cast<Index>(found.unit.size()); ++i) {
      const Shares share = found.shares(i);
      start[visited_.unit.size()].assign(share.begin(), share.end());
      visited_.unit.push_back(found.unit[i]);
      visited_.unit.back().block += static_cast<int>(visited_.block.size());
    }
    visited_.block.insert(visited_.block.end(), found.block.begin(), found.block.end());
  }
  move(Documents::in_as_visited, 0, n(), total);
}

void TopicEdit::condense(std::vector<std::shared_ptr<Summary>>& batches) const {
  const Problem& problem = c_.problem;
  std::map<const Weights*, std::size_t> needed;
  std::vector<std::map<const Weights*, std::size_t>> by_batch;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const std::shared_ptr<const Batch> batch = problem.source.open(static_cast<Index>(b));
    const DocumentReader reader(problem.obs, batch->data);
    const ShareTable& table = batches[b]->memory->shares;
    auto& here = by_batch.emplace_back();
    for (std::size_t i = 0; i < table.unit.size(); ++i)
      here[table.weights(static_cast<Index>(i))] +=
          static_cast<std::size_t>(reader.n_rows(batch->units[i]) * table.unit[i].n);
    for (const auto& [weights, n] : here) needed[weights] += n;
  }
  std::set<const Weights*> gone;
  for (const auto& [weights, n] : needed)
    if (weights && n < weights->w.size() + weights->transposed.size()) gone.insert(weights);
  for (std::size_t b = 0; b < batches.size(); ++b) {
    std::size_t size = 0;
    bool any = false;
    for (const auto& [weights, n] : by_batch[b])
      if (gone.count(weights)) {
        size += n;
        any = true;
      }
    if (!any) continue;
    const std::shared_ptr<const Batch> batch = problem.source.open(static_cast<Index>(b));
    DocumentReader reader(problem.obs, batch->data);
    const ShareTable& table = batches[b]->memory->shares;
    auto memory = std::make_shared<UnitMemory>();
    memory->shares = table.without(gone, size, [&](Index i, Vec& c) {
      append_logs(reader.recall(batch->units[i], table, i), table.shares(i), c);
    });
    batches[b]->memory = std::move(memory);
  }
}

void TopicEdit::put_back(State& edited) {
  std::vector<std::shared_ptr<Summary>> batches;
  Index from = 0;
  for (std::size_t b = 0; b < edited.batch.size(); ++b) {
    Index to = from;
    while (to < n() && documents_[to].batch == static_cast<Index>(b)) ++to;
    auto batch = std::make_shared<Summary>(*edited.batch[b]);
    if (to > from) move(Documents::out_as_before, from, to, *batch);
    changes_.apply(*batch);
    if (to > from) {
      move(Documents::in_as_visited, from, to, *batch);
      std::vector<Index> at;
      for (Index i = from; i < to; ++i) at.push_back(documents_[i].at);
      auto memory = std::make_shared<UnitMemory>();
      memory->shares = batch->memory->shares.with(at, visited_, from);
      batch->memory = std::move(memory);
    }
    batches.push_back(std::move(batch));
    from = to;
  }
  condense(batches);
  edited.batch.assign(batches.begin(), batches.end());
}

}  // namespace bnpvi::topics
