#include "topics/moves/birth_from_document.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bnpvi::topics {

namespace {

// Guesses, all of them.
constexpr Index search_every = 3;            // rounds
constexpr std::size_t max_documents = 1024;  // whose gain is estimated
constexpr std::size_t max_visited = 256;
constexpr double least_gain = 2;  // expected, in log units, of documents that are visited

class NewTopic {
 public:
  NewTopic(const MoveContext& context, const State& state)
      : c_(context), state_(state), reader_(context.problem) {}

  // log p_u of the words of a document under its present topics.
  Vec log_probability(const DocumentRef& ref) {
    load(ref);
    const Shares shares = shares_of(state_, ref);
    Vec out(static_cast<std::size_t>(view_.n));
    for (Index u = 0; u < view_.n; ++u) {
      double sum = 0;
      for (const Share& s : shares) sum += s.count * std::exp(view_.c(u, s.column));
      out[u] = std::log(std::max(sum / view_.length, 1e-300));
    }
    return out;
  }

  // T of the document alone.
  Vec statistic(const DocumentRef& ref) {
    load(ref);
    Vec t(static_cast<std::size_t>(c_.problem.obs->n_features()), 0.0);
    t[0] = view_.times * view_.length;
    for (Index u = 0; u < view_.n; ++u) t[1 + view_.row[u]] = view_.times * view_.count(u);
    return t;
  }

  struct ExpectedGain {
    double gain, tokens;
  };
  // The gain in a document from a new topic with weights w, and the number of tokens that contribute to it.
  ExpectedGain expected_gain(const DocumentRef& ref, const Vec& w) {
    const Vec present = log_probability(ref);
    ExpectedGain out{0, 0};
    for (Index u = 0; u < view_.n; ++u) {
      const double better = w[1 + view_.row[u]] - present[u];
      if (better <= 0) continue;
      out.gain += view_.count(u) * better;
      out.tokens += view_.count(u);
    }
    return out;
  }

  /// An owner whose topics the document may use: 0 if it may use open ones.
  int owner_for(const DocumentRef& ref) {
    const std::shared_ptr<const Batch> batch = c_.problem.source.open(ref.batch);
    const Dataset& data = batch->data;
    if (!data.classes || state_.total.owner.empty()) return 0;
    const int set = data.classes[data.starts[batch->units[ref.at]]];
    for (int c = 0; c <= data.class_sets->n_classes; ++c)
      if (data.class_sets->allows(set, c)) return c;
    return 0;
  }

  void close() { reader_.close(); }

 private:
  void load(const DocumentRef& ref) {
    reader_.at(ref);
    view_ = reader_.recall(memory_of(state_, ref.batch), ref.at);
  }

  const MoveContext& c_;
  const State& state_;
  PlacedReader reader_;
  DocumentView view_;
};

// Keeps at most `size` of the documents, drawn without replacement, in their order.
void thin(std::vector<DocumentRef>& documents, std::size_t size, Stream& stream) {
  std::vector<DocumentRef> kept;
  std::size_t wanted = std::min(size, documents.size());
  for (std::size_t i = 0; i < documents.size() && wanted > 0; ++i)
    if (stream.uniform() * static_cast<double>(documents.size() - i) < static_cast<double>(wanted)) {
      kept.push_back(documents[i]);
      --wanted;
    }
  documents.swap(kept);
}

}  // namespace

std::unique_ptr<TopicEdit> birth_from_document(const MoveContext& context, const TopicAlloc& alloc,
                                               const State& state, Index target, const Room& room,
                                               Stream& stream) {
  const ObsModel& obs = context.problem.obs;
  NewTopic candidate(context, state);
  std::vector<DocumentRef> users = users_of(state, target, 1);
  thin(users, max_documents, stream);
  if (users.empty()) return nullptr;
  Vec w(static_cast<std::size_t>(obs.n_features())), badly;
  for (const DocumentRef& ref : users) {
    context.pool.poll();
    obs.weights(candidate.statistic(ref).data(), w.data());
    badly.push_back(candidate.expected_gain(ref, w).gain);
  }
  const Index chosen = draw(badly, stream);
  if (chosen < 0) return nullptr;
  const DocumentRef seed = users[chosen];
  const Vec t = candidate.statistic(seed);
  const int owner = candidate.owner_for(seed);
  obs.weights(t.data(), w.data());

  struct Candidate {
    DocumentRef ref;
    NewTopic::ExpectedGain expected;
  };
  std::vector<Candidate> candidates;
  std::vector<DocumentRef> others = documents_with(state, [](Shares shares) { return !shares.empty(); });
  thin(others, max_documents, stream);
  for (const DocumentRef& ref : others) {
    const auto expected = candidate.expected_gain(ref, w);
    if (expected.gain > least_gain) candidates.push_back({ref, expected});
  }
  candidate.close();
  if (candidates.empty()) return nullptr;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.expected.gain > b.expected.gain; });
  if (candidates.size() > max_visited) candidates.resize(max_visited);
  if (room.size() > 0)
    for (const DocumentRef& ref : documents_with(state, [&](Shares shares) { return touches(room, shares); }))
      candidates.push_back({ref, {0, 0}});
  // If a document occurs twice, the first is kept, with its gain.
  const auto place = [](const Candidate& x) { return std::make_pair(x.ref.batch, x.ref.at); };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return place(a) < place(b); });
  candidates.erase(std::unique(candidates.begin(), candidates.end(),
                               [&](const Candidate& a, const Candidate& b) { return place(a) == place(b); }),
                   candidates.end());

  const Index k = state.k() - room.size();
  std::vector<DocumentRef> documents;
  for (const Candidate& x : candidates) documents.push_back(x.ref);
  auto made = std::make_unique<TopicEdit>(context, alloc, state, documents, room.changes().append(1, owner),
                                          search_every);
  TopicEdit& edit = *made;
  for (Index i = 0; i < edit.n(); ++i) {
    double length = 0;
    for (const Share& s : edit.start[i]) length += s.count;
    const double moved = candidates[i].expected.tokens / 2;
    if (moved == 0 || length == 0) continue;
    for (Share& s : edit.start[i]) s.count *= 1 - moved / length;
    edit.start[i].push_back({static_cast<int>(k), 0, moved, 0, 0});
  }
  edit.set_topic(k, t.data());
  const Vec sizes = state.total.sizes();
  const double share = t[0] / std::accumulate(sizes.begin(), sizes.end(), t[0]);
  for (double& x : edit.weights_of_topics) x *= 1 - share;
  edit.weights_of_topics[k] = share;
  edit.begin();
  return made;
}

}  // namespace bnpvi::topics
