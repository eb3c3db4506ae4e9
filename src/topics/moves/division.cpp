#include "topics/moves/division.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/start/seeding.h"
#include "topics/anchors/anchor_words.h"

namespace bnpvi::topics {

namespace {

// Guesses, all of them.
constexpr Index search_every = 3;      // rounds of an edit
constexpr Index max_clustered = 256;   // documents
constexpr Index max_looked_at = 4096;  // documents, for anchors and where there is one topic
constexpr Index max_anchors = 256;
constexpr double tokens_per_anchor = 256;
constexpr double own_side = 0.9;      // share of a document's count that goes to the topic on its residual's
                                      // side
constexpr double worth_moving = 0.5;  // tokens: documents with less of the target stay as they are

}  // namespace

// The target's part of some documents.
struct TopicDivision::Part {
  PartialCounts counts;     // counts: a document a row
  std::vector<Place> rows;  // otherwise: rows and their mass
  Vec mass;
  double tokens = 0, weighted = 0;  // tokens, without and with the documents' weights
};

TopicDivision::TopicDivision(const MoveContext& context, const TopicAlloc& alloc, const State& state,
                             std::vector<Index> target)
    : c_(context), alloc_(alloc), state_(state), target_(std::move(target)) {
  documents_ = documents_with(state_, [this](Shares shares) { return worth_dividing(shares); });
}

bool TopicDivision::worth_dividing(Shares shares) const {
  double mass = 0;
  for (Index j : target_) mass += count_of(shares, j);
  return mass >= worth_moving;
}

TopicDivision::Part TopicDivision::part_of(const std::vector<DocumentRef>& documents) const {
  PlacedReader placed(c_.problem);
  Part out;
  Vec r;
  double entropy = 0;
  for (const DocumentRef& ref : documents) {
    DocumentReader& reader = placed.at(ref);
    const DocumentView view = placed.recall(memory_of(state_, ref.batch), ref.at);
    const Shares shares = shares_of(state_, ref);
    document_responsibilities(view, shares, alloc_.width(), r, entropy);
    const std::size_t m = shares.size();
    std::vector<std::size_t> at;  // positions of the target's topics among the shares
    for (std::size_t j = 0; j < m; ++j)
      if (std::binary_search(target_.begin(), target_.end(), shares[j].cluster)) at.push_back(j);
    for (Index u = 0; u < view.n; ++u) {
      double share = 0;
      for (std::size_t j : at) share += r[static_cast<std::size_t>(u) * m + j];
      const double mass = view.count(u) * share;
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

Seeds TopicDivision::seeds(Division how, Index k, Index limit, Stream& stream) const {
  std::vector<DocumentRef> documents = documents_;
  const Index n = static_cast<Index>(documents.size());
  const bool only =
      occupied(state_.total) == 1 && rows_are_documents(c_.problem.obs, c_.problem.source.shape());
  const bool many = how == Division::anchors || only;
  const Index looked_at = std::min(n, many ? max_looked_at : max_clustered);
  if (looked_at < n) draw_to_front(documents, looked_at, stream);
  documents.resize(static_cast<std::size_t>(looked_at));
  const Part part = part_of(documents);
  Seeds out;
  if (how == Division::anchors) {
    const double tokens = std::accumulate(part.counts.value.begin(), part.counts.value.end(), 0.0);
    const Index most = std::max(k, static_cast<Index>(tokens / tokens_per_anchor));
    AnchorTopics found = anchor_topics(part.counts, c_.problem.source.shape().d,
                                       std::min({most, max_anchors, limit}), true, stream, c_.pool);
    out = {found.k, std::move(found.t), {}};
  } else {
    out = clusters(part, std::min(k, limit), stream);
  }
  const double times = part.tokens > 0 ? part.weighted / part.tokens : 1;
  for (double& x : out.t) x *= times * (static_cast<double>(n) / static_cast<double>(looked_at));
  return out;
}

Seeds TopicDivision::clusters(const Part& part, Index k, Stream& stream) const {
  const Problem& problem = c_.problem;
  HardClusters out;
  if (!rows_are_documents(problem.obs, problem.source.shape())) {
    const Sample sample = take_rows(problem.source, part.rows, problem.obs->capabilities().lag);
    out =
        bregman_kmeans(problem.obs, sample.data, sample.rows, part.mass.data(), k, true, 5, stream, c_.pool);
    return {out.k, std::move(out.t), {}};
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
  out = bregman_kmeans(problem.obs, data, rows, nullptr, k, true, 5, stream, c_.pool);
  const Index p = problem.obs->n_features();
  for (Index j = 0; j < out.k; ++j)
    out.t[j * p] = std::accumulate(out.t.begin() + j * p + 1, out.t.begin() + (j + 1) * p, 0.0);
  return {out.k, std::move(out.t), {}};
}

Seeds TopicDivision::seeds_by_residual() const {
  const ResponseModel* model = alloc_.response();
  const auto q = alloc_.response_posterior(state_.globals);
  if (!q) return {};
  Vec residual, sizes;
  PlacedReader placed(c_.problem);
  for (const DocumentRef& ref : documents_) {
    placed.at(ref);
    const DocumentView view = placed.recall(memory_of(state_, ref.batch), ref.at);
    residual.push_back(model->residual(view.response, view.length, shares_of(state_, ref), *q));
    if (!std::isnan(residual.back())) sizes.push_back(std::abs(residual.back()));
  }
  placed.close();
  if (sizes.size() < 2) return {};
  std::sort(sizes.begin(), sizes.end());
  const std::size_t first =
      std::max(sizes.size() / 2, sizes.size() - std::min<std::size_t>(sizes.size(), max_clustered));
  std::vector<DocumentRef> side[2];
  for (std::size_t i = 0; i < documents_.size(); ++i)
    if (std::abs(residual[i]) >= sizes[first]) side[residual[i] > 0 ? 0 : 1].push_back(documents_[i]);
  if (side[0].empty() || side[1].empty()) return {};
  const double times =
      static_cast<double>(documents_.size()) / static_cast<double>(side[0].size() + side[1].size());
  const Index p = c_.problem.obs->n_features();
  Seeds out{2, Vec(static_cast<std::size_t>(2 * p), 0.0), std::move(residual)};
  for (Index j = 0; j < 2; ++j) add_statistic(part_of(side[j]), times, out.t.data() + j * p);
  return out;
}

void TopicDivision::add_statistic(const Part& part, double times, double* t) const {
  const ObsModel& obs = c_.problem.obs;
  if (rows_are_documents(obs, c_.problem.source.shape())) {
    for (std::size_t i = 0; i < part.counts.column.size(); ++i)
      t[1 + part.counts.column[i]] += times * part.counts.value[i];
    t[0] = std::accumulate(t + 1, t + obs.n_features(), 0.0);
    return;
  }
  const Sample sample = take_rows(c_.problem.source, part.rows, obs.capabilities().lag);
  FeatureBlock block(obs, sample.data);
  Vec mass = part.mass;
  for (double& m : mass) m *= times;
  const Index n = static_cast<Index>(sample.rows.size());
  for (Index from = 0; from < n; from += block.block_rows()) {
    block.load(sample.rows.data() + from, std::min(block.block_rows(), n - from));
    block.add_weighted(mass.data() + from, t);
  }
}

// Divides the counts of each document's start between `target` and the new topic `born`, by the sign of the
// document's residual.
void TopicDivision::share_by_residual(const Seeds& seed, Index target, Index born, TopicEdit& edit) const {
  std::size_t at = 0;
  for (Index i = 0; i < edit.n(); ++i) {
    while (at < documents_.size() &&
           (documents_[at].batch < edit.document(i).batch ||
            (documents_[at].batch == edit.document(i).batch && documents_[at].at < edit.document(i).at)))
      ++at;
    const bool ours = at < documents_.size() && documents_[at].batch == edit.document(i).batch &&
                      documents_[at].at == edit.document(i).at;
    if (!ours || std::isnan(seed.residual[at])) continue;
    const double both = count_of(edit.start[i], target) + count_of(edit.start[i], born);
    const bool above = seed.residual[at] > 0;
    for (Share& s : edit.start[i])
      if (s.cluster == target || s.cluster == born)
        s.count = both * ((s.cluster == target) == above ? own_side : 1 - own_side);
  }
}

// The target's statistic of data that are no longer available goes to the new topic that explains it best,
// which becomes the first.
void TopicDivision::add_settled(Seeds& seed) const {
  const Summary* earlier = settled_part(state_);
  if (!earlier) return;
  const Index p = earlier->shape.p;
  Vec settled(static_cast<std::size_t>(p)), both(settled.size());
  for (Index j : target_)
    for (Index i = 0; i < p; ++i) settled[i] += earlier->t(j)[i];
  Index best = 0;
  double highest = -INFINITY;
  for (Index j = 0; j < seed.k; ++j) {
    const double* t = seed.t.data() + j * p;
    for (Index i = 0; i < p; ++i) both[i] = settled[i] + t[i];
    const double gain = c_.problem.obs->log_evidence(both.data()) - c_.problem.obs->log_evidence(t);
    if (gain > highest) highest = gain, best = j;
  }
  std::swap_ranges(seed.t.begin(), seed.t.begin() + p, seed.t.begin() + best * p);
  for (Index i = 0; i < p; ++i) seed.t[i] += settled[i];
}

double TopicDivision::forecast(const Seeds& seed) const {
  if (c_.problem.obs->capabilities().cells) return HUGE_VAL;
  const Index p = state_.total.shape.p;
  double change = 0;
  for (Index j = 0; j < seed.k; ++j) change += used_evidence(c_.problem.obs, seed.t.data() + j * p);
  for (Index j : target_) change -= used_evidence(c_.problem.obs, state_.total.t(j));
  return change;
}

std::unique_ptr<TopicEdit> TopicDivision::edit(Seeds seed, Room room) const {
  add_settled(seed);
  for (std::size_t j = 1; j < target_.size(); ++j) room.joined.push_back({target_[0], target_[j]});
  const Index born = seed.k - 1, p = state_.total.shape.p, gone = room.size();
  const Index target = room.number_of(target_[0]), first = state_.k() - gone;
  Changes changes =
      room.changes().append(alloc_.fixed_k() > 0 ? gone : born, state_.total.owner_of(target_[0]));
  auto edit =
      std::make_unique<TopicEdit>(c_, alloc_, state_, documents_and(room), std::move(changes), search_every);
  edit->divided = {target};
  for (Index j = 0; j < born; ++j) edit->divided.push_back(first + j);
  for (std::vector<Share>& start : edit->start) {
    const double mass = count_of(start, target);
    if (mass < worth_moving) continue;
    for (Share& s : start)
      if (s.cluster == target) s.count = mass / static_cast<double>(seed.k);
    for (Index j = 0; j < born; ++j)
      start.push_back({static_cast<int>(first + j), 0, mass / static_cast<double>(seed.k), 0, 0});
  }
  if (!seed.residual.empty()) share_by_residual(seed, target, first, *edit);
  if (alloc_.response()) alloc_.response()->divide(edit->topics, target, first, born);
  for (Index j = 0; j < seed.k; ++j)
    edit->set_topic(edit->divided[static_cast<std::size_t>(j)], seed.t.data() + j * p);
  Vec& weights = edit->weights_of_topics;
  const double whole = weights[target];
  double tokens = 0;
  for (Index j = 0; j < seed.k; ++j) tokens += seed.t[j * p];
  weights[target] = whole * seed.t[0] / tokens;
  for (Index j = 1; j < seed.k; ++j) weights[first + j - 1] = whole * seed.t[j * p] / tokens;
  edit->begin();
  return edit;
}

// The documents of the target, and those that must be visited because topics of `room` are removed.
std::vector<DocumentRef> TopicDivision::documents_and(const Room& room) const {
  if (room.size() == 0) return documents_;
  return documents_with(state_,
                        [&](Shares shares) { return worth_dividing(shares) || touches(room, shares); });
}

}  // namespace bnpvi::topics
