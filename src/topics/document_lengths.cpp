#include "topics/document_lengths.h"

#include <cmath>

#include "foundation/special.h"

namespace bnpvi::topics {

void DocumentLengths::add(const ShareTable& documents) {
  for (std::size_t i = 0; i < documents.unit.size(); ++i) {
    double length = 0;
    for (const Share& s : documents.shares(static_cast<Index>(i))) length += s.count;
    ++number_[std::round(length)];
  }
}

double DocumentLengths::term(double alpha) const {
  double sum = 0;
  for (const auto& [length, number] : number_) sum -= number * log_gamma(length + alpha);
  return sum;
}

}  // namespace bnpvi::topics
