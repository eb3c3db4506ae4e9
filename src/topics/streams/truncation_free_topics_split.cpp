#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/special.h"
#include "observations/capabilities.h"
#include "topics/streams/truncation_free_topics.h"

namespace bnpvi::topics {

namespace {

constexpr Index most_parts = 20;  // a guess

// Observations of one topic in one document that stay in one cluster: all of them (tokens), or a single one
// (rows).
struct Part {
  Index document;
  std::vector<Index> observations;
};

std::vector<Part> parts_of(const Documents& documents, const std::vector<int>& topic, Index j) {
  std::vector<Part> out;
  for (Index d = 0; d < documents.n_documents(); ++d) {
    bool begun = false;
    for (Index i = documents.starts()[d]; i < documents.starts()[d + 1]; ++i) {
      if (topic[i] != static_cast<int>(j)) continue;
      if (!begun || !documents.whole_parts()) out.push_back({d, {}});
      out.back().observations.push_back(i);
      begun = true;
    }
  }
  return out;
}

// Division of one document's observations of the topic among clusters.
struct DividedDocument {
  double mass, tables = 0, n = 0;
  Vec n_of;

  // Tables of cluster a: proportional to its observations, but at least one if it has any.
  int tables_of(Index a) const {
    return n_of[a] > 0 ? static_cast<int>(std::max(1.0, std::round(tables * n_of[a] / n))) : 0;
  }
};

// Division of a topic's latest observations among K clusters.
struct Division {
  const std::vector<int> label;
  const Index k, p;
  std::vector<DividedDocument> documents;
  // K × p, p: every observation once; K × p: with the masses of documents.
  Vec t, all, massed;
  Vec tables, massed_tables;  // K
  double new_tables = 0;      // increase of the number of tables, times the documents' masses

  Division(std::vector<int> label_of_parts, const std::vector<Part>& parts, const Documents& latest,
           const LabelledDocuments& record, Index p_of_model)
      : label(std::move(label_of_parts)),
        k(1 + *std::max_element(label.begin(), label.end())),
        p(p_of_model),
        t(static_cast<std::size_t>(k * p), 0.0),
        all(static_cast<std::size_t>(p), 0.0),
        massed(t),
        tables(static_cast<std::size_t>(k), 0.0),
        massed_tables(tables) {
    for (std::size_t u = 0; u < parts.size(); ++u) {
      const double mass = record.mass[parts[u].document];
      if (u == 0 || parts[u].document != parts[u - 1].document)
        documents.push_back({mass, 0, 0, Vec(tables.size(), 0.0)});
      for (Index i : parts[u].observations) {
        latest.add_to(all.data(), i, 1);
        latest.add_to(t.data() + label[u] * p, i, 1);
        latest.add_to(massed.data() + label[u] * p, i, mass);
        documents.back().tables += record.tables[i];
        documents.back().n_of[label[u]] += 1;
        documents.back().n += 1;
      }
    }
    for (const DividedDocument& d : documents) {
      new_tables -= d.mass * d.tables;
      for (Index a = 0; a < k; ++a) {
        tables[a] += d.tables_of(a);
        massed_tables[a] += d.mass * d.tables_of(a);
        new_tables += d.mass * d.tables_of(a);
      }
    }
  }

  // Number of observations of cluster a, and of all.
  double n(Index a) const { return t[a * p]; }
  double n() const { return all[0]; }
};

}  // namespace

void TruncationFreeTopics::split_all() {
  const std::unique_ptr<Documents> latest = documents_of(obs_, topics_.recent);
  Stream random = stream(1);
  for (Index j = 0; j < topics_.k(); ++j) {
    pool_.poll();
    split(j, *latest, random);
  }
}

void TruncationFreeTopics::split(Index j, const Documents& latest, Stream& stream) {
  RunningTopics& c = topics_;
  LabelledDocuments& record = c.recent;
  std::vector<Part> parts = parts_of(latest, record.topic, j);
  const auto first = parts.end() - std::min(most_to_split, static_cast<Index>(parts.size()));
  const std::vector<Part> left_out(parts.begin(), first);
  parts.erase(parts.begin(), first);
  const Index most = std::min(most_parts, options_.most_clusters - c.k() + 1);
  if (static_cast<Index>(parts.size()) < fewest_to_split || most < 2) return;
  std::vector<std::vector<Index>> observations;
  for (const Part& part : parts) observations.push_back(part.observations);
  const Division division(latest.cluster(observations, most, stream, pool_), parts, latest, record, p_);
  const Index k = division.k;
  if (k < 2) return;

  const double weight = c.alpha * mean_weights()[j],
               all_tables = std::accumulate(division.tables.begin(), division.tables.end(), 0.0);
  double gain = -used_evidence(obs_, division.all.data());
  for (Index a = 0; a < k; ++a) gain += used_evidence(obs_, division.t.data() + a * p_);
  for (const DividedDocument& d : division.documents) {
    for (Index a = 0; a < k; ++a)
      if (d.n_of[a] > 0)
        gain += log_rising(prior_.k > 0 ? weight : weight * division.tables[a] / all_tables, d.n_of[a]);
    gain -= log_rising(weight, d.n);
  }
  if (prior_.k > 0) {
    for (Index a = 1; a < k; ++a) gain += std::log(static_cast<double>(prior_.k - c.k() - a + 1));
  } else {
    gain += static_cast<double>(k - 1) * std::log(c.gamma) - log_gamma(all_tables);
    for (double s : division.tables) gain += log_gamma(s) - s * std::log(s / all_tables);
  }
  if (!(gain > 0)) return;

  double earlier_tables = c.tables[j];
  for (double s : division.massed_tables) earlier_tables -= s;
  Vec n_of;
  for (Index a = 0; a < k; ++a) n_of.push_back(division.n(a));
  const std::vector<Index> number = divide(j, latest.divided(c.t.data() + j * p_, division.massed), n_of);
  c.tables.resize(static_cast<std::size_t>(c.k()));
  for (Index a = 0; a < k; ++a)
    c.tables[number[a]] =
        prior_.k > 0 ? 0 : division.massed_tables[a] + std::max(0.0, earlier_tables) * n_of[a] / division.n();
  // Observations that were not clustered count as earlier ones from now on.
  for (const Part& part : left_out)
    for (Index i : part.observations) record.topic[i] = -1;
  for (std::size_t u = 0; u < parts.size(); ++u)
    for (Index i : parts[u].observations) record.topic[i] = static_cast<int>(number[division.label[u]]);
  if (!has_tables()) return;
  c.alpha_shape += division.new_tables;
  std::size_t d = 0;
  std::vector<bool> placed;
  for (std::size_t u = 0; u < parts.size(); ++u) {
    if (u == 0 || parts[u].document != parts[u - 1].document) {
      if (u > 0) ++d;
      placed.assign(static_cast<std::size_t>(k), false);
    }
    const int a = division.label[u];
    for (Index i : parts[u].observations) record.tables[i] = 0;
    if (!placed[a]) record.tables[parts[u].observations.front()] = division.documents[d].tables_of(a);
    placed[a] = true;
  }
}

}  // namespace bnpvi::topics
