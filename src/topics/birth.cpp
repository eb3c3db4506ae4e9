// Birth in a topic model. What the documents have of one topic is divided, in turn into as many as its words
// can tell apart (anchor_words.h), by clusters of documents into many and into two; or a whole document
// begins a topic (birth_from_document.h).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/seeding.h"
#include "topics/anchor_words.h"
#include "topics/birth_from_document.h"
#include "topics/moves.h"
#include "topics/topic_edit.h"

namespace bnpvi::topics {

namespace {

// Guesses, all of them.
constexpr Index max_rounds = 8;           // of an edit
constexpr Index compared_rounds = 4;      // of two divisions, before the better goes on
constexpr Index search_every = 3;         // rounds
constexpr Index max_clustered = 256;      // documents
constexpr Index max_with_anchors = 4096;  // documents
constexpr Index max_anchors = 256;
constexpr double tokens_per_anchor = 256;
constexpr double worth_moving = 0.5;  // tokens: documents with less of the target stay as they are

// What some documents have of one topic.
struct TargetPart {
  PartialCounts counts;     // counts: a document a row
  std::vector<Place> rows;  // otherwise: rows and their mass
  Vec mass;
  double tokens = 0, weighted = 0;  // of counts, and as often as their documents count
};

// How the target is divided.
enum class Division { anchors, many, two, document };

Division division(int failures, bool counts) {
  if (!counts) return failures % 3 == 0 ? Division::many : Division::two;
  return static_cast<Division>(failures % 4);
}

// What the topics that replace the target begin with: k × p, with T_0 in tokens.
struct Seeds {
  Index k = 0;
  Vec t;
};

class TopicBirth final : public Move {
 public:
  TopicBirth(const MoveContext& context, const TopicAlloc& alloc) : c_(context), alloc_(alloc) {}

  bool prepare(const State& state) override {
    ids_ = birth_targets(c_, state);
    return !ids_.empty();
  }

  void after_lap(State& state) override {
    for (std::uint64_t id : ids_) accepted_ += try_birth(state, c_.memory.number_of(id), id);
    tried_ += static_cast<Index>(ids_.size());
  }

 private:
  bool try_birth(State& state, Index target, std::uint64_t id) {
    if (propose(state, target, id)) return true;
    c_.memory.birth_failed(target, state.total.size(target));
    return false;
  }

  TargetPart part_of(const State& state, Index target, const std::vector<DocumentRef>& documents) const {
    const Problem& problem = c_.problem;
    PlacedReader placed(problem);
    TargetPart out;
    Vec r;
    double entropy = 0;
    for (const DocumentRef& ref : documents) {
      DocumentReader& reader = placed.at(ref);
      const DocumentView view = placed.recall(memory_of(state, ref.batch), ref.at);
      const Shares shares = shares_of(state, ref);
      document_responsibilities(view, shares, alloc_.width(), r, entropy);
      const std::size_t m = shares.size();
      std::size_t at = 0;
      while (shares[at].cluster != target) ++at;
      for (Index u = 0; u < view.n; ++u) {
        const double share = r[static_cast<std::size_t>(u) * m + at], mass = view.count(u) * share;
        if (mass < 0.01) continue;
        if (reader.by_term()) {
          out.counts.column.push_back(view.row[u]);
          out.counts.value.push_back(mass);
          out.counts.square.push_back(mass * share);
          out.tokens += mass;
          out.weighted += view.times * mass;
        } else {
          out.rows.push_back({ref.batch, reader.rows()[u]});
          out.mass.push_back(view.times * mass);
        }
      }
      out.counts.row_start.push_back(static_cast<int>(out.counts.column.size()));
    }
    return out;
  }

  Seeds seeds(const State& state, Index target, std::vector<DocumentRef> documents, Division how,
              Stream& stream) const {
    const Problem& problem = c_.problem;
    const Index n = static_cast<Index>(documents.size());
    const Index looked_at = std::min(n, how == Division::anchors ? max_with_anchors : max_clustered);
    if (looked_at < n) draw_to_front(documents, looked_at, stream);
    documents.resize(static_cast<std::size_t>(looked_at));
    const TargetPart part = part_of(state, target, documents);
    Seeds out;
    if (how == Division::anchors) {
      const double tokens = std::accumulate(part.counts.value.begin(), part.counts.value.end(), 0.0);
      const Index most = std::max(c_.options.birth_size, static_cast<Index>(tokens / tokens_per_anchor));
      AnchorTopics found = anchor_topics(part.counts, problem.source.shape().d, std::min(most, max_anchors),
                                         true, stream, c_.pool);
      out = {found.k, std::move(found.t)};
    } else {
      HardClusters found = clusters(part, how == Division::many ? c_.options.birth_size : 2, stream);
      out = {found.k, std::move(found.t)};
    }
    const double times = part.tokens > 0 ? part.weighted / part.tokens : 1;
    for (double& x : out.t) x *= times * (static_cast<double>(n) / static_cast<double>(looked_at));
    return out;
  }

  HardClusters clusters(const TargetPart& part, Index k, Stream& stream) const {
    const Problem& problem = c_.problem;
    if (!rows_are_documents(problem.obs, problem.source.shape())) {
      const Sample sample = take_rows(problem.source, part.rows, problem.obs.lag());
      return bregman_kmeans(problem.obs, sample.data, sample.rows, part.mass.data(), k, true, 5, stream,
                            c_.pool);
    }
    Dataset data;
    data.n = part.counts.n();
    data.d = problem.source.shape().d;
    data.row_start = part.counts.row_start.data();
    data.column = part.counts.column.data();
    data.value = part.counts.value.data();
    data.starts = {0, data.n};
    std::vector<Index> rows(static_cast<std::size_t>(data.n));
    std::iota(rows.begin(), rows.end(), Index{0});
    HardClusters out = bregman_kmeans(problem.obs, data, rows, nullptr, k, true, 5, stream, c_.pool);
    const Index p = problem.obs.n_features();
    for (Index j = 0; j < out.k; ++j)
      out.t[j * p] = std::accumulate(out.t.begin() + j * p + 1, out.t.begin() + (j + 1) * p, 0.0);
    return out;
  }

  // The topics of `seed` in place of the target, in all documents that have something of it.
  std::unique_ptr<TopicEdit> divided(const State& state, Index target, std::vector<DocumentRef> documents,
                                     const Seeds& seed) const {
    const Index born = seed.k - 1, k = state.k(), p = state.total.shape.p;
    auto edit = std::make_unique<TopicEdit>(c_, alloc_, state, std::move(documents), Changes().append(born),
                                            search_every);
    for (Index i = 0; i < edit->n(); ++i) {
      std::vector<Share>& start = edit->start[i];
      double mass = 0;
      for (const Share& s : shares_of(state, edit->document(i))) {
        if (s.cluster == target) mass = s.count;
        start.push_back(s);
      }
      for (Share& s : start)
        if (s.cluster == target) s.count = mass / static_cast<double>(seed.k);
      for (Index j = 0; j < born; ++j)
        start.push_back({static_cast<int>(k + j), 0, mass / static_cast<double>(seed.k), 0, 0});
    }
    Summary first = state.total;
    first.append(born);
    std::copy_n(seed.t.begin(), p, first.edit_t(target));
    std::copy_n(seed.t.begin() + p, born * p, first.edit_t(k));
    Vec weights = alloc_.mean_weights(state.globals);
    const double remainder = weights.back(), whole = weights[target];
    weights.pop_back();
    double tokens = 0;
    for (Index j = 0; j < seed.k; ++j) tokens += seed.t[j * p];
    weights[target] = whole * seed.t[0] / tokens;
    for (Index j = 1; j < seed.k; ++j) weights.push_back(whole * seed.t[j * p] / tokens);
    weights.push_back(remainder);
    edit->begin_at_topics(std::move(first), weights);
    return edit;
  }

  // How to divide this target, in turn. The only topic is divided in two ways, and the better one goes on:
  // all later topics come from it.
  std::vector<Division> divisions(const State& state, Index target) const {
    const Division next = division(c_.memory.birth_failures(target),
                                   rows_are_documents(c_.problem.obs, c_.problem.source.shape()));
    if (state.k() == 1 && next == Division::anchors) return {Division::anchors, Division::many};
    return {next};
  }

  bool propose(State& state, Index target, std::uint64_t id) {
    const std::vector<DocumentRef> documents = users_of(state, target, worth_moving);
    if (documents.empty()) return false;
    Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), id);
    std::unique_ptr<TopicEdit> best;
    const std::vector<Division> ways = divisions(state, target);
    for (Division way : ways) {
      if (way == Division::document) return birth_from_document(c_, alloc_, state, target, stream);
      const Seeds seed = seeds(state, target, documents, way, stream);
      if (seed.k < 2) continue;
      auto edit = divided(state, target, documents, seed);
      for (Index n = 0; n < compared_rounds && ways.size() > 1; ++n) edit->round();
      if (!best || edit->proposed().elbo > best->proposed().elbo) best = std::move(edit);
    }
    if (!best || !best->climb(state, max_rounds)) return false;
    c_.memory.birth_succeeded(target);
    return true;
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  std::vector<std::uint64_t> ids_;
};

}  // namespace

std::unique_ptr<Move> make_topic_birth(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicBirth>(context, alloc);
}

}  // namespace bnpvi::topics
