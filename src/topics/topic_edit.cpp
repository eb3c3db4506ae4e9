#include "topics/topic_edit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "topics/topic_sum.h"

namespace bnpvi::topics {

namespace {

constexpr double patience = 3;  // times the last round's gain may be missing

}  // namespace

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

DocumentView PlacedReader::load(const Weights& weights, const TopicTable* shared, bool exponentials) {
  return reader_->load(batch_->units[ref_.at], weights, shared, exponentials);
}

DocumentView PlacedReader::recall(const ShareTable& memory, Index at) {
  return reader_->recall(batch_->units[ref_.at], memory, at);
}

std::vector<DocumentRef> users_of(const State& state, Index topic, double least) {
  std::vector<DocumentRef> out;
  for (std::size_t b = 0; b < state.batch.size(); ++b) {
    const ShareTable& memory = memory_of(state, static_cast<Index>(b));
    for (Index i = 0; i < static_cast<Index>(memory.unit.size()); ++i)
      for (const Share& s : memory.shares(i))
        if (s.cluster == topic && s.count >= least) out.push_back({static_cast<Index>(b), i});
  }
  return out;
}

TopicEdit::TopicEdit(const MoveContext& context, const TopicAlloc& alloc, const State& state,
                     std::vector<DocumentRef> documents, std::function<void(Summary&)> change)
    : start(documents.size()),
      c_(context),
      alloc_(alloc),
      state_(state),
      documents_(std::move(documents)),
      change_(std::move(change)),
      rest_(state.total) {
  rest_.add(part(0, n(), state.k(), true), -1);
  change_(rest_);
}

void TopicEdit::begin_at(Summary total, const Vec& weights) {
  proposed_.globals = alloc_.globals_at(std::move(total), weights);
}

Summary TopicEdit::part(Index from, Index to, Index k, bool as_before) const {
  const Problem& problem = c_.problem;
  const Index n_chunks = TopicAlloc::count_chunks(to - from), at_once = c_.pool.n_threads();
  Summary out(alloc_.shape(problem.obs), k);
  std::vector<TopicSum> sums;
  const auto add_up = [&](Index chunk, TopicSum& sum) {
    PlacedReader placed(problem);
    for (Index i = from + (to - from) * chunk / n_chunks; i < from + (to - from) * (chunk + 1) / n_chunks;
         ++i) {
      const DocumentRef& ref = documents_[i];
      DocumentReader& reader = placed.at(ref);
      const ShareTable& memory = as_before ? memory_of(state_, ref.batch) : visited_;
      const Index at = as_before ? ref.at : i;
      const DocumentView view = placed.recall(memory, at);
      sum.add(reader, view, memory.shares(at));
    }
  };
  for (Index first = 0; first < n_chunks; first += at_once) {
    const Index n = std::min(at_once, n_chunks - first);
    sums.clear();
    for (Index i = 0; i < n; ++i)
      sums.emplace_back(problem.obs, problem.source.shape(), k, alloc_.alpha(), alloc_.width());
    c_.pool.run(n, [&](Index i) { add_up(first + i, sums[i]); });
    for (TopicSum& sum : sums) sum.finish(out);
  }
  return out;
}

double TopicEdit::round(bool search) {
  const Problem& problem = c_.problem;
  const Globals& globals = proposed_.globals;
  const bool by_term = rows_are_documents(problem.obs, problem.source.shape());
  const auto weights = visiting_weights(problem, globals.effective);
  const TopicTable table = by_term ? TopicTable(*weights, true, &c_.pool) : TopicTable();
  const DocumentPrior prior(alloc_.document_prior(globals));
  const Index n_chunks = TopicAlloc::count_chunks(n());
  std::vector<std::shared_ptr<ShareBlock>> blocks(static_cast<std::size_t>(n_chunks));
  visited_.unit.resize(documents_.size());
  c_.pool.run(n_chunks, [&](Index chunk) {
    PlacedReader placed(problem);
    DocStep step(prior, alloc_.width());
    ShareBlock& block = *(blocks[chunk] = std::make_shared<ShareBlock>());
    block.weights = weights;
    for (Index i = n() * chunk / n_chunks; i < n() * (chunk + 1) / n_chunks; ++i) {
      c_.pool.poll();
      const DocumentRef& ref = documents_[i];
      placed.at(ref);
      const DocumentView view = placed.load(*weights, &table, true);
      UnitShares& now = visited_.unit[i];
      now = TopicAlloc::visit(step, view, {start[i], 0, 1}, block, static_cast<int>(chunk), search);
      now.misses = now.wait = 0;
      start[i].assign(block.share.end() - now.n, block.share.end());
    }
  });
  visited_.block.assign(blocks.begin(), blocks.end());
  proposed_.total = rest_;
  proposed_.total.add(part(0, n(), rest_.k, false));
  proposed_.globals = alloc_.global_step(proposed_.total, proposed_.globals);
  proposed_.elbo = sum_terms(elbo_terms(problem, proposed_.total, proposed_.globals));
  return proposed_.elbo;
}

bool TopicEdit::climb(State& state, int max_rounds, int search_every, double start) {
  double previous = start;
  for (int n = 0; n < max_rounds; ++n) {
    const double elbo = round(n % search_every == 0);
    if (elbo > state.elbo + rounding_of(state.elbo)) {
      State edited = finish();
      if (edited.elbo <= state.elbo + rounding_of(state.elbo)) return false;
      c_.problem.observer.predicted(elbo, edited);
      state = std::move(edited);
      return true;
    }
    if (state.elbo - elbo > patience * (elbo - previous)) return false;
    previous = elbo;
  }
  return false;
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

State TopicEdit::finish() const {
  State out = state_;
  out.globals = proposed_.globals;
  std::vector<std::shared_ptr<Summary>> batches;
  Index from = 0;
  for (std::size_t b = 0; b < out.batch.size(); ++b) {
    Index to = from;
    while (to < n() && documents_[to].batch == static_cast<Index>(b)) ++to;
    auto batch = std::make_shared<Summary>(*out.batch[b]);
    if (to > from) batch->add(part(from, to, state_.k(), true), -1);
    change_(*batch);
    if (to > from) {
      batch->add(part(from, to, rest_.k, false));
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
  out.batch.assign(batches.begin(), batches.end());
  out.total = rest_;
  resum(c_.problem, out);
  refresh(c_.problem, out);
  return out;
}

}  // namespace bnpvi::topics
