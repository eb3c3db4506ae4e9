#include "topics/moves/topic_edit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "foundation/pool_task.h"
#include "topics/model/topic_sum.h"
#include "topics/moves/documents_work.h"

namespace bnpvi::topics {

namespace {

// A document's shares, and below the weights of topics, as targets of Changes.
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
      search_every_(search_every),
      few_(FewTerms::of(context.problem, documents_)),
      few_problem_(few_ ? with_prior(context.problem, few_->obs()) : context.problem) {
  if (few_) topics = few_->restricted(state.total);
  rest_ = topics;
  elbo_beyond_ = beyond_few_terms();
  move(Documents::out_as_before, 0, n(), few_.get(), rest_);
  apply(changes_);
  for (const DocumentRef& ref : documents_) {
    const Shares last = shares_of(state, ref);
    start.push_back(changed(changes_, {last.begin(), last.end()}));
  }
}

void TopicEdit::set_topic(Index j, const double* t) {
  if (!few_) {
    std::copy_n(t, topics.shape.p, topics.edit_t(j));
    return;
  }
  const Vec restricted = few_->restricted(t);
  std::copy(restricted.begin(), restricted.end(), topics.edit_t(j));
}

namespace {

// For each topic the earlier topics that were joined to form it.
struct Origins {
  std::vector<std::vector<Index>> of;

  explicit Origins(Index k) {
    for (Index j = 0; j < k; ++j) of.push_back({j});
  }
  void merge(Index a, Index b) {
    of[a].insert(of[a].end(), of[b].begin(), of[b].end());
    drop(b);
  }
  void drop(Index j) { of.erase(of.begin() + j); }
  void append(Index m) { of.resize(of.size() + static_cast<std::size_t>(m)); }
  void permute(const std::vector<Index>& order) {
    const auto old = of;
    for (std::size_t j = 0; j < order.size(); ++j) of[j] = old[order[j]];
  }
};

}  // namespace

double TopicEdit::beyond_few_terms() const {
  if (!few_) return 0;
  const Globals now{topics, state_.globals.u, state_.globals.omega};
  double out = state_.elbo - sum_terms(elbo_terms(few_problem_, topics, now));
  Origins origins(state_.k());
  changes_.apply(origins);
  const Index p = state_.total.shape.p;
  Vec joined(static_cast<std::size_t>(p));
  for (const std::vector<Index>& parts : origins.of) {
    if (parts.size() < 2) continue;
    std::fill(joined.begin(), joined.end(), 0.0);
    for (Index j : parts) {
      for (Index i = 0; i < p; ++i) joined[i] += state_.total.t(j)[i];
      out -= few_->evidence_beyond(c_.problem.obs, state_.total.t(j));
    }
    out += few_->evidence_beyond(c_.problem.obs, joined.data());
  }
  return out;
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

void TopicEdit::move(Documents how, Index from, Index to, const FewTerms* few, Summary& sum) const {
  const Problem& problem = c_.problem;
  const ObsModel& obs = few ? few->obs() : problem.obs.operator const ObsModel&();
  const bool as_before = how == Documents::out_as_before;
  const Index n_chunks = TopicAlloc::count_chunks(to - from), at_once = c_.pool.n_threads();
  std::vector<TopicSum> sums;
  const auto add_up = [&](Index chunk, TopicSum& part) {
    PlacedReader placed(problem);
    std::optional<DocumentReader> own;
    if (few) own.emplace(few->obs(), few->data());
    for (Index i = from + (to - from) * chunk / n_chunks; i < from + (to - from) * (chunk + 1) / n_chunks;
         ++i) {
      const DocumentRef& ref = documents_[i];
      const ShareTable& memory = as_before ? memory_of(state_, ref.batch) : visited_;
      const Index at = as_before ? ref.at : i;
      DocumentReader& reader = few && !as_before ? *own : placed.at(ref);
      DocumentView view = few && !as_before ? own->recall(i, memory, at) : placed.recall(memory, at);
      if (few) view.row = few->terms_of(i);
      part.add(reader, view, memory.shares(at));
    }
  };
  for (Index first = 0; first < n_chunks; first += at_once) {
    const Index n = std::min(at_once, n_chunks - first);
    sums.clear();
    for (Index i = 0; i < n; ++i)
      sums.emplace_back(obs, problem.source.shape(), sum.k, alloc_.width(), alloc_.document_terms());
    c_.pool.run(n, [&](Index i) { add_up(first + i, sums[i]); });
    for (TopicSum& part : sums) part.finish(sum, as_before ? -1 : 1);
  }
}

// Each task carries the topics, from which the process that runs it makes tables.
bool TopicEdit::worth_sending(Index k) const {
  constexpr double products_per_document = 2000;  // of 100 words and 20 topics: a guess
  const Problem& problem = this->problem();
  if (few_ || !problem.workers || in_pool_task()) return false;
  Index tasks = n() > 0;
  for (Index i = 1; i < n(); ++i) tasks += documents_[i].batch != documents_[i - 1].batch;
  const double sent = static_cast<double>(k) * static_cast<double>(problem.source.shape().d * tasks);
  return static_cast<double>(n()) * products_per_document >= problem.workers->least_products() * sent;
}

void TopicEdit::visit(const Globals& globals, Summary& total) {
  const Problem& problem = this->problem();
  const bool search = rounds() % search_every_ == 0;
  Globals without_weights = globals;
  without_weights.weights = nullptr;
  const auto at = globals_for_work(problem, std::move(without_weights), true);
  const bool sent = worth_sending(globals.effective.k);
  const auto shared = sent ? nullptr
                           : std::make_shared<const DocumentVisits>(alloc_, problem.obs,
                                                                    problem.source.shape(), *at, c_.pool);
  std::vector<std::unique_ptr<DocumentsWork>> work;
  for (Index from = 0, to; from < n(); from = to) {
    std::vector<Index> documents;
    for (to = from; to < n() && (few_ || documents_[to].batch == documents_[from].batch); ++to)
      documents.push_back(few_ ? to : documents_[to].at);
    work.push_back(std::make_unique<DocumentsWork>(
        documents_[from].batch, at, std::move(documents),
        std::vector<std::vector<Share>>(start.begin() + from, start.begin() + to), search, shared));
  }
  if (sent) {
    do_work(problem, c_.pool, work);
  } else {
    for (const auto& one : work)
      if (few_)
        one->run(problem, {few_->data(), few_->units()}, c_.pool);
      else
        do_here(problem, c_.pool, *one);
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
  move(Documents::in_as_visited, 0, n(), few_.get(), total);
}

void TopicEdit::forget_weights() {
  DocumentReader reader(few_->obs(), few_->data());
  std::set<const Weights*> all;
  std::size_t size = 0;
  for (Index i = 0; i < n(); ++i) {
    all.insert(visited_.weights(i));
    size += static_cast<std::size_t>(reader.n_rows(i)) * visited_.shares(i).size();
  }
  visited_ = visited_.without(
      all, size, [&](Index i, Vec& c) { append_logs(reader.recall(i, visited_, i), visited_.shares(i), c); });
}

void TopicEdit::condense(std::vector<std::shared_ptr<Summary>>& batches) const {
  const Problem& problem = c_.problem;
  if (problem.obs->capabilities().cells) return;  // C does not say what was expected of rows
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
  if (few_) forget_weights();
  std::vector<std::shared_ptr<Summary>> batches;
  Index from = 0;
  for (std::size_t b = 0; b < edited.batch.size(); ++b) {
    Index to = from;
    while (to < n() && documents_[to].batch == static_cast<Index>(b)) ++to;
    auto batch = std::make_shared<Summary>(*edited.batch[b]);
    if (to > from) move(Documents::out_as_before, from, to, nullptr, *batch);
    changes_.apply(*batch);
    if (to > from) {
      move(Documents::in_as_visited, from, to, nullptr, *batch);
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
