#include "topics/model/topic_model.h"

#include <algorithm>
#include <cmath>

#include "foundation/chunks.h"
#include "foundation/prefetch.h"
#include "foundation/special.h"
#include "topics/model/allowed_topics.h"
#include "topics/model/document_counts.h"
#include "topics/model/term_sum.h"
#include "topics/moves/moves.h"

namespace bnpvi::topics {

namespace {

constexpr int longest_wait =
    15;  // visits between searches; with 31 or 63 laps were cheaper but the bound lower

// Passes a document's responsibilities to the sink: those of its rows, or its proportions if the document is
// one row of counts.
void show(const Visit& in, Index chunk, DocumentReader& reader, const DocumentView& view, Shares share,
          const Vec& r, const DocumentPriors& priors) {
  const DocumentPrior& prior = priors[view];
  const Index k = prior.k(), m = static_cast<Index>(share.size());
  const std::vector<Index>& rows = reader.rows();
  Responsibilities out;
  out.k = out.width = k;
  if (reader.by_term()) {
    out.n = 1;
    out.value.assign(static_cast<std::size_t>(k), 0.0);
    for (const Share& s : share) out.value[s.cluster] = s.count / view.length;
    if (share.empty()) {
      double sum = 0;
      for (double a : prior.a) sum += a;
      for (Index j = 0; j < k; ++j) out.value[j] = prior.a[j] / sum;
    }
    reader.block().load(rows.data(), 1);
    in.sink->visit(chunk, rows.data(), out, reader.block());
    return;
  }
  const Index step = reader.block().block_rows();
  for (Index from = 0; from < view.n; from += step) {
    out.n = std::min(step, view.n - from);
    out.value.assign(static_cast<std::size_t>(out.n * k), 0.0);
    for (Index i = 0; i < out.n; ++i)
      for (Index j = 0; j < m; ++j) out.value[i * k + share[j].cluster] = r[(from + i) * m + j];
    reader.block().load(rows.data() + from, out.n);
    in.sink->visit(chunk, rows.data() + from, out, reader.block());
  }
}

}  // namespace

Index TopicAlloc::count_chunks(Index n_documents) {
  return power_of_two_below(std::clamp<Index>(n_documents / 64, 1, 8));
}

UnitShares TopicAlloc::visit(DocStep& step, const DocumentView& view, const LastVisit& last,
                             ShareBlock& block, int number, bool search) {
  // A start may have shares of new topics that the document may not use.
  if (view.allowed) {
    const std::vector<Share> kept = allowed_shares(last.share, *view.allowed);
    if (kept.size() < last.share.size())
      return visit(step, view, {kept, last.misses, last.wait}, block, number, search);
  }
  const bool first = last.share.empty();
  if (!first && last.wait > 0 && !search) {
    const DocumentFit& fit = step.warm(view, last.share, false);
    UnitShares now = remember(block, number, fit.share, fit.local);
    now.weight = view.times;
    now.misses = last.misses;
    now.wait = last.wait - 1;
    return now;
  }
  DocumentFit best;
  if (!first) best = step.warm(view, last.share, true);
  const double before = best.bound;
  const DocumentFit& fresh = step.cold(view);
  if (fresh.bound > best.bound) best = fresh;
  step.restarts(view, best);
  UnitShares now = remember(block, number, best.share, best.local);
  now.weight = view.times;
  if (!first && best.bound <= before + 1e-6 * std::abs(before)) {
    now.misses = last.misses + 1;
    now.wait = std::min(longest_wait, (1 << std::min(now.misses, 8)) - 1);
  }
  return now;
}

SummaryShape TopicAlloc::shape(const ObsModel& obs) const {
  return topic_shape(obs.n_features(), document_terms());
}

Summary TopicAlloc::local_step(const Visit& in) const {
  const Index n = static_cast<Index>(in.units.size()), k = in.weights->k, n_chunks = count_chunks(n);
  const bool by_term = rows_are_documents(in.obs, in.data);
  const DocumentPriors prior = document_priors(in.globals);
  const AllowedTopics allowed(in.data, in.globals.effective);
  const auto responses = response_posterior(in.globals);
  const std::shared_ptr<const Weights>& weights = in.weights;
  const TopicTable table = by_term ? TopicTable(*weights, true, &in.pool) : TopicTable();
  const ShareTable* last = in.memory ? &in.memory->shares : nullptr;
  auto memory = std::make_shared<UnitMemory>();
  memory->shares.unit.resize(in.units.size());
  std::vector<std::shared_ptr<ShareBlock>> blocks(static_cast<std::size_t>(n_chunks));
  if (in.sink) in.sink->begin(n_chunks);
  std::vector<TopicSum> sums;
  std::vector<TermSum> by_terms;
  for (Index chunk = 0; chunk < n_chunks; ++chunk) {
    const Index from = n * chunk / n_chunks, to = n * (chunk + 1) / n_chunks;
    if (by_term)
      by_terms.emplace_back(in.data, in.units, from, to, k, document_terms());
    else
      sums.emplace_back(in.obs, in.data, k, width(), document_terms());
  }
  in.pool.run(n_chunks, [&](Index chunk) {
    DocumentReader reader(in.obs, in.data);
    DocStep step(prior, width(), response(), responses.get());
    Vec none;
    const Index from = n * chunk / n_chunks, to = n * (chunk + 1) / n_chunks;
    blocks[chunk] = std::make_shared<ShareBlock>();
    blocks[chunk]->weights = weights;
    if (last && to > from) {  // as much as at the last visit
      std::size_t shares = 0;
      for (Index i = from; i < to; ++i) shares += last->shares(i).size();
      blocks[chunk]->share.reserve(shares + shares / 8);
    }
    if (patterns_ > 0)
      blocks[chunk]->local.reserve(static_cast<std::size_t>(PatternLocal::size * (to - from)));
    for (Index i = from; i < to; ++i) {
      in.pool.poll();
      if (i + 1 < to) {
        reader.expect(in.units[i + 1]);
        if (last) prefetch(last->shares(i + 1).begin(), last->shares(i + 1).size());
      }
      DocumentView view = reader.load(in.units[i], *weights, &table, true);
      view.allowed = allowed.of(in.units[i]);
      const UnitShares before = last ? last->unit[i] : UnitShares();
      const Shares old = last ? last->shares(i) : Shares();
      UnitShares& now = memory->shares.unit[i];
      now = visit(step, view, {old, before.misses, before.wait}, *blocks[chunk], static_cast<int>(chunk));
      view.local = now.n_local > 0 ? blocks[chunk]->local.data() + now.local : nullptr;
      const Shares share(blocks[chunk]->share.data() + now.from, static_cast<std::size_t>(now.n));
      if (by_term) by_terms[chunk].add(view, share, step.factors(view, share));
      const Vec& r = by_term ? none : sums[chunk].add(reader, view, share);
      if (in.sink) show(in, chunk, reader, view, share, r, prior);
    }
    in.pool.spend(step.cost());
  });
  memory->shares.block.assign(blocks.begin(), blocks.end());
  Summary out = by_term ? TermSum::finish(by_terms, table, in.pool) : Summary(shape(in.obs), k);
  for (TopicSum& sum : sums) sum.finish(out);
  out.owner = in.globals.effective.owner;
  out.memory = std::move(memory);
  return out;
}

Summary TopicAlloc::summarise(const Visit& in, const GivenResponsibilities& resp) const {
  const Index k = resp.k(), n_units = static_cast<Index>(in.units.size());
  const bool by_term = rows_are_documents(in.obs, in.data), expects = in.obs.capabilities().cells != nullptr;
  const auto probability = [&](Index row, Index j) { return std::max(resp(row, j), 1e-300); };
  Weights none;  // C = 0: responsibilities of a document of counts are its own proportions
  none.k = k;
  none.p = in.obs.n_features();
  none.w.assign(static_cast<std::size_t>(k * none.p), 0.0);
  const TopicTable table = by_term ? TopicTable(none, false) : TopicTable();
  DocumentReader reader(in.obs, in.data);
  Vec log_resp;
  const auto load = [&](Index document) {
    if (by_term) return reader.load(document, none, &table, false);
    DocumentView view = reader.load_rows(document);
    view.k = k;
    view.weights = in.weights.get();
    log_resp.clear();
    for (Index row : reader.rows())
      for (Index j = 0; j < k; ++j) log_resp.push_back(std::log(probability(row, j)));
    view.c_table = {log_resp.data(), k, 1};
    return view;
  };
  std::vector<std::vector<Share>> shares(in.units.size());
  Vec sizes(static_cast<std::size_t>(k), 0.0);
  for (Index i = 0; i < n_units; ++i) {
    const DocumentView view = load(in.units[i]);
    for (Index j = 0; j < k; ++j) {
      double count = 0;
      if (by_term)
        count = view.length * probability(in.units[i], j);
      else
        for (Index row : reader.rows()) count += probability(row, j);
      sizes[j] += view.times * count;
      const double log_weight = by_term ? std::log(probability(in.units[i], j)) : 0.0;
      const int topic = static_cast<int>(j);
      if (count >= least_share) shares[i].push_back({topic, topic, count, log_weight, count});
    }
  }
  const Vec a = document_prior_of(sizes);
  TopicSum sum(in.obs, in.data, k, 0, document_terms());
  auto memory = std::make_shared<UnitMemory>();
  const auto block = std::make_shared<ShareBlock>();
  Vec logs;
  for (Index i = 0; i < n_units; ++i) {
    for (Share& s : shares[i]) s.theta = s.count + a[s.cluster];
    DocumentView view = load(in.units[i]);
    Vec local;
    if (patterns_ > 0) local = {view.response ? view.response[0] : 0, alpha()};
    view.local = local.empty() ? nullptr : local.data();
    sum.add(reader, view, shares[i]);
    const std::size_t from = logs.size();
    if (expects) {  // columns are those of the weights, under which it is expected what rows hide
      for (Index j = 0; j < k; ++j)
        for (Index u = 0; u < view.n; ++u) logs.push_back(view.c(u, j));
    } else {
      append_logs(view, shares[i], logs);
      for (std::size_t j = 0; j < shares[i].size(); ++j) shares[i][j].column = static_cast<int>(j);
    }
    memory->shares.unit.push_back(remember(*block, 0, shares[i], local));
    memory->shares.unit.back().logs = from;
    memory->shares.unit.back().weight = view.times;
  }
  block->logs = std::make_shared<const Vec>(std::move(logs));
  if (expects) block->weights = in.weights;
  memory->shares.block.push_back(block);
  Summary out(shape(in.obs), k);
  sum.finish(out);
  out.memory = std::move(memory);
  return out;
}

// Counts are summed from the responsibilities, not taken from the shares, with which they must agree.
Summary TopicAlloc::recompute(const Visit& in) const {
  const ShareTable& memory = in.memory->shares;
  DocumentReader reader(in.obs, in.data);
  TopicSum sum(in.obs, in.data, in.weights->k, width(), document_terms());
  Vec r;
  double entropy = 0;
  for (std::size_t i = 0; i < in.units.size(); ++i) {
    const Index at = static_cast<Index>(i);
    const DocumentView view = reader.recall(in.units[i], memory, at);
    std::vector<Share> share(memory.shares(at).begin(), memory.shares(at).end());
    document_responsibilities(view, share, width(), r, entropy);
    for (std::size_t j = 0; j < share.size(); ++j) {
      share[j].count = 0;
      for (Index u = 0; u < view.n; ++u)
        share[j].count += view.count(u) * r[static_cast<std::size_t>(u) * share.size() + j];
    }
    sum.add(reader, view, share);
  }
  Summary out(shape(in.obs), in.weights->k);
  sum.finish(out);
  return out;
}

Globals TopicAlloc::stochastic_step(const Globals& from, const Summary& noisy, double rate) const {
  Globals out = from;
  Summary& effective = out.effective;
  const bool first = effective.scalar[TopicScalar::documents] == 0;
  effective.scale(1 - rate);
  effective.add(noisy, rate);
  if (first) {
    effective.extra = noisy.extra;
    effective.pair = noisy.pair;
    effective.scalar = noisy.scalar;
  }
  return global_step(effective, out);
}

std::shared_ptr<const AllocModel> TopicAlloc::learned(const State& state, Pool* pool) const {
  if (!alpha_.prior || settled_part(state)) return nullptr;  // their documents are known at this α only
  DocumentLengths lengths;
  for (const auto& batch : state.batch) lengths.add(batch->memory->shares);
  const DocumentCounts counts(state);
  Summary total = allocation_part(state.total);
  const auto model_at = [&](double value) {
    Concentration tried = alpha_;
    tried.value = value;
    return with(tried);
  };
  const WeightMoments pi = weight_moments({state.globals.u, state.globals.omega});
  const double found = better_value(alpha_, [&](double value) {
    const auto model = model_at(value);
    const Vec used = counts.terms(model->document_prior(state.globals), pool);
    for (Index k = 0; k < total.k; ++k) {
      double* extra = total.extra.data() + k * TopicExtra::size;
      extra[TopicExtra::slope] = 0;
      extra[TopicExtra::offset] = used[k];
    }
    total.scalar[TopicScalar::lengths] = lengths.term(value);
    return model->value_of_documents(total, pi).term() + model->log_hyperprior();
  });
  return found != alpha() ? model_at(found) : nullptr;
}

std::unique_ptr<const ResponsePosterior> TopicAlloc::response_posterior(const Globals& globals) const {
  if (!response_ || response_->n_known(globals.effective) <= 0) return nullptr;
  return std::make_unique<const ResponsePosterior>(response_->posterior(globals.effective));
}

void TopicAlloc::add_response_term(const Summary& total, const Globals& globals, Terms& terms) const {
  if (response_) terms.emplace_back("response", response_->value(total, globals.effective));
}

NamedArrays TopicAlloc::learned_fields() const {
  NamedArrays out;
  add_field("alpha", alpha_, out);
  return out;
}

AllocCapabilities TopicAlloc::capabilities() const {
  AllocCapabilities out;
  out.concentrations = this;
  out.tangents = this;
  out.joins = this;
  out.visits = this;
  out.remembered = this;
  out.start = this;
  out.work = this;
  return out;
}

std::vector<MoveKind> TopicAlloc::moves() const {
  using Turn = MoveKind::Turn;
  return {move_kind(Turn::birth, true, *this, make_topic_birth),
          move_kind(Turn::merge, true, *this, make_topic_merge),
          move_kind(Turn::remove, true, *this, make_topic_delete),
          move_kind(Turn::idle, true, *this, make_topic_resplit)};
}

Index TopicAlloc::cost_of_observation(const ObsModel& obs, const DataShape& data) const {
  return rows_are_documents(obs, data) ? 1 : obs.n_features();
}

// Weights for documents of counts lack the transpose, which only products with rows need.
std::shared_ptr<const Weights> TopicAlloc::visit_weights(const ObsModel& obs, const DataShape& data,
                                                         const Summary& effective, Pool* pool,
                                                         double* evidence) const {
  return std::make_shared<const Weights>(make_weights(obs, effective.obs.data(), effective.k, pool, evidence,
                                                      !rows_are_documents(obs, data), effective.names.of));
}

}  // namespace bnpvi::topics
