#include "topics/model/document_counts.h"

#include <cmath>
#include <numeric>

#include "kernels/kernels.h"

namespace bnpvi::topics {

void DocumentLengths::add(const ShareTable& documents) {
  for (std::size_t i = 0; i < documents.unit.size(); ++i) {
    double length = 0;
    for (const Share& s : documents.shares(static_cast<Index>(i))) length += s.count;
    number_[std::round(length)] += documents.unit[i].weight;
  }
}

double DocumentLengths::term(double alpha) const {
  Vec values;
  for (const auto& each : number_) values.push_back(each.first + alpha);
  kernels().log_gamma_each(static_cast<Index>(values.size()), values.data(), values.data());
  double sum = 0;
  std::size_t i = 0;
  for (const auto& each : number_) sum -= each.second * values[i++];
  return sum;
}

DocumentCounts::DocumentCounts(const State& state) : counts_(static_cast<std::size_t>(state.k())) {
  for (const auto& batch : state.batch) {
    const ShareTable& documents = batch->memory->shares;
    for (std::size_t i = 0; i < documents.unit.size(); ++i)
      for (const Share& s : documents.shares(static_cast<Index>(i)))
        counts_[s.cluster].push_back({s.count, documents.unit[i].weight});
  }
}

Vec DocumentCounts::terms(const Vec& a, Pool* pool) const {
  Vec out(counts_.size());
  for_each_part(pool, static_cast<Index>(counts_.size()), [&](Index k) {
    Vec values;
    for (const Count& c : counts_[k]) values.push_back(c.count + a[k]);
    kernels().log_gamma_each(static_cast<Index>(values.size()), values.data(), values.data());
    for (std::size_t i = 0; i < values.size(); ++i) out[k] += counts_[k][i].weight * values[i];
  });
  return out;
}

}  // namespace bnpvi::topics
