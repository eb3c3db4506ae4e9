#include "topics/model/document_tables.h"

#include <algorithm>
#include <cmath>

#include "hdp/tables.h"

namespace bnpvi::topics {

namespace {

// As in R/check.R.
constexpr double least_gamma = 1e-50, most_gamma = 1e50, least_alpha = 1e-8, most_alpha = 1e6;

}  // namespace

std::vector<int> draw_document_tables(const std::vector<Index>& starts, const std::vector<int>& label,
                                      const Vec& beta, double alpha, Stream& stream) {
  std::vector<int> tables(label.size(), 0);
  std::vector<Index> count(beta.size(), 0), first;
  for (std::size_t d = 0; d + 1 < starts.size(); ++d) {
    first.clear();
    for (Index i = starts[d]; i < starts[d + 1]; ++i)
      if (count[label[i]]++ == 0) first.push_back(i);
    for (Index i : first) {
      const int j = label[i];
      tables[i] = static_cast<int>(draw_tables(count[j], alpha * beta[j], stream));
      count[j] = 0;
    }
  }
  return tables;
}

Vec tables_by_topic(const std::vector<int>& tables, const std::vector<int>& label, std::size_t k) {
  Vec out(k, 0.0);
  for (std::size_t i = 0; i < tables.size(); ++i) out[label[i]] += tables[i];
  return out;
}

double draw_alpha(const GammaPrior& prior, double alpha, const std::vector<Index>& starts, double tables,
                  Stream& stream) {
  std::vector<Index> length;
  for (std::size_t d = 0; d + 1 < starts.size(); ++d) length.push_back(starts[d + 1] - starts[d]);
  return std::clamp(draw_group_concentration(prior, alpha, length, static_cast<Index>(tables), stream),
                    least_alpha, most_alpha);
}

double draw_gamma_given(const GammaPrior& prior, double gamma, Index k, double tables, Stream& stream) {
  const Index whole = static_cast<Index>(std::round(tables));  // tables of faded documents are fractions
  return std::clamp(draw_top_concentration(prior, gamma, k, whole, stream), least_gamma, most_gamma);
}

}  // namespace bnpvi::topics
