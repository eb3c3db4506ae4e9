// Birth in a topic model: what the documents have of one topic is clustered into several, in turn into many
// and into two; or a whole document begins a topic (topic_newcomer.h).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "seeding.h"
#include "topic_edit.h"
#include "topic_newcomer.h"

namespace bnpvi {

namespace {

constexpr int max_rounds = 8;
constexpr Index max_seed_documents = 256;
constexpr double worth_moving = 0.5;  // tokens: documents with less of the target stay as they are

// What some documents have of one topic.
struct TargetPart {
  std::vector<int> row_start{0}, column;  // counts: a document a row
  Vec value;
  std::vector<Index> rows;  // otherwise: rows and their mass
  Vec mass;
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

  void report(LapRecord& record) const override {
    record.births_tried += tried_;
    record.births += accepted_;
  }

 private:
  bool try_birth(State& state, Index target, std::uint64_t id) {
    if (propose(state, target, id)) return true;
    c_.memory.birth_failed(target, state.total.size(target));
    return false;
  }

  TargetPart part_of(const State& state, Index target, const std::vector<DocumentRef>& documents) const {
    const Problem& problem = c_.problem;
    DocumentReader reader(problem.obs, problem.data);
    TargetPart out;
    Vec r;
    double entropy = 0;
    for (const DocumentRef& ref : documents) {
      const DocumentMemory& memory = memory_of(state, ref);
      const TopicTable table = reader.by_term() ? TopicTable(*memory.weights, false) : TopicTable();
      const Index unit = problem.batches[ref.batch][ref.at];
      const DocumentView view = reader.load(unit, *memory.weights, &table, false);
      document_responsibilities(view, memory.share, problem.width, r, entropy);
      const std::size_t m = memory.share.size();
      std::size_t at = 0;
      while (memory.share[at].topic != target) ++at;
      for (Index u = 0; u < view.n; ++u) {
        const double mass = view.count(u) * r[static_cast<std::size_t>(u) * m + at];
        if (mass < 0.01) continue;
        if (reader.by_term()) {
          out.column.push_back(view.row[u]);
          out.value.push_back(mass);
        } else {
          out.rows.push_back(reader.rows()[u]);
          out.mass.push_back(mass);
        }
      }
      out.row_start.push_back(static_cast<int>(out.column.size()));
    }
    return out;
  }

  // Clusters of what the documents have of the target: k × p, with T_0 in tokens.
  HardClusters seeds(const State& state, Index target, std::vector<DocumentRef> documents,
                     Stream& stream) const {
    const Problem& problem = c_.problem;
    const Index n = static_cast<Index>(documents.size());
    const double scale = static_cast<double>(n) / static_cast<double>(std::min(n, max_seed_documents));
    for (Index i = 0; i < std::min(n, max_seed_documents); ++i)
      std::swap(documents[i], documents[i + stream.index(n - i)]);
    documents.resize(static_cast<std::size_t>(std::min(n, max_seed_documents)));
    const TargetPart part = part_of(state, target, documents);
    const Index k = c_.memory.birth_failures(target) % 3 == 0 ? c_.options.birth_size : 2;
    HardClusters out;
    if (rows_are_documents(problem.obs, problem.data)) {
      Dataset data;
      data.n = static_cast<Index>(documents.size());
      data.d = problem.data.d;
      data.row_start = part.row_start.data();
      data.column = part.column.data();
      data.value = part.value.data();
      data.starts = {0, data.n};
      std::vector<Index> rows(documents.size());
      std::iota(rows.begin(), rows.end(), Index{0});
      out = bregman_kmeans(problem.obs, data, rows, nullptr, k, true, 5, stream, c_.pool);
      const Index p = problem.obs.n_features();
      for (Index j = 0; j < out.k; ++j)
        out.t[j * p] = std::accumulate(out.t.begin() + j * p + 1, out.t.begin() + (j + 1) * p, 0.0);
    } else {
      out =
          bregman_kmeans(problem.obs, problem.data, part.rows, part.mass.data(), k, true, 5, stream, c_.pool);
    }
    for (double& x : out.t) x *= scale;
    return out;
  }

  bool propose(State& state, Index target, std::uint64_t id) {
    std::vector<DocumentRef> documents = users_of(state, target, worth_moving);
    if (documents.empty()) return false;
    Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), id);
    if (c_.memory.birth_failures(target) % 3 == 2 && rows_are_documents(c_.problem.obs, c_.problem.data))
      return birth_from_document(c_, alloc_, state, target, stream);
    const HardClusters hard = seeds(state, target, documents, stream);
    if (hard.k < 2) return false;
    const Index born = hard.k - 1, k = state.k(), p = state.total.shape.p;

    TopicEdit edit(c_, alloc_, state, std::move(documents), [born](Summary& s) { s.append(born); });
    for (Index i = 0; i < edit.n(); ++i) {
      double mass = 0;
      for (const TopicShare& s : memory_of(state, edit.document(i)).share) {
        if (s.topic == target) mass = s.count;
        edit.start[i].push_back(s);
      }
      for (TopicShare& s : edit.start[i])
        if (s.topic == target) s.count = mass / static_cast<double>(hard.k);
      for (Index j = 0; j < born; ++j)
        edit.start[i].push_back({static_cast<int>(k + j), 0, mass / static_cast<double>(hard.k), 0, 0});
    }
    Summary believed = state.total;
    believed.append(born);
    std::copy_n(hard.t.begin(), p, believed.t(target));
    std::copy_n(hard.t.begin() + p, born * p, believed.t(k));
    Vec weights = alloc_.mean_weights(state.globals);
    const double remainder = weights.back(), whole = weights[target];
    weights.pop_back();
    double tokens = 0;
    for (Index j = 0; j < hard.k; ++j) tokens += hard.t[j * p];
    weights[target] = whole * hard.t[0] / tokens;
    for (Index j = 1; j < hard.k; ++j) weights.push_back(whole * hard.t[j * p] / tokens);
    weights.push_back(remainder);
    edit.believe(std::move(believed), weights);

    if (!edit.climb(state, max_rounds, 3, 2)) return false;
    c_.memory.append(born);
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

}  // namespace bnpvi
