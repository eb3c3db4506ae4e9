#include "topics/model/documents.h"

#include <algorithm>
#include <numeric>

#include "observations/capabilities.h"
#include "topics/model/sequential_estimate.h"
#include "topics/sampling/row_documents.h"
#include "topics/sampling/token_documents.h"

namespace bnpvi::topics {

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

}  // namespace bnpvi::topics
