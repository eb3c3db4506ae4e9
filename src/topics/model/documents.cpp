#include "topics/model/documents.h"

#include <algorithm>
#include <numeric>

#include "observations/capabilities.h"
#include "topics/model/sequential_estimate.h"
#include "topics/sampling/row_documents.h"
#include "topics/sampling/token_documents.h"

namespace bnpvi::topics {

namespace {

// Guesses: the latest observations say how far topics overlap, and are drawn anew. Of rows as of clusters.
constexpr Index most_tokens = 50000, most_rows = 10000, fewest_rows = 1000, most_numbers = 1 << 22;

}  // namespace

std::vector<Index> Documents::starts_of(const LabelledDocuments& record) {
  std::vector<Index> starts{0};
  for (int n : record.length) starts.push_back(starts.back() + n);
  return starts;
}

double Documents::sequential_sum(const std::vector<int>& column, const Vec& phi, const Vec& a, Index draws,
                                 std::uint64_t seed, Pool& pool) const {
  Dataset single;
  single.n = n_documents();
  const std::vector<int> row_start(starts_.begin(), starts_.end());
  const Vec one(column.size(), 1.0);
  single.row_start = row_start.data();
  single.column = column.data();
  single.value = one.data();
  const Vec of_documents = sequential_estimates(single, phi, a, draws, seed, pool);
  return std::accumulate(of_documents.begin(), of_documents.end(), 0.0);
}

std::unique_ptr<Documents> documents_of(const ObsModel& obs, const Dataset& batch) {
  if (obs.capabilities().tokens) return std::make_unique<TokenDocuments>(obs, batch);
  return std::make_unique<RowDocuments>(obs, batch);
}

std::unique_ptr<Documents> documents_of(const ObsModel& obs, const LabelledDocuments& record) {
  if (obs.capabilities().tokens) return std::make_unique<TokenDocuments>(obs, record);
  return std::make_unique<RowDocuments>(obs, record);
}

TopicStreamLimits limits_of_stream(const ObsModel& obs) {
  if (obs.capabilities().tokens) return {most_tokens, {1e4, 1e5}};
  return {std::clamp(most_numbers / obs.n_features(), fewest_rows, most_rows), {1e3, 1e4}};
}

}  // namespace bnpvi::topics
