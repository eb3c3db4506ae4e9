#include "inference/learn/labels_watch.h"

namespace bnpvi {

void LabelsWatch::visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock&) {
  for (Index i = 0; i < r.n; ++i) {
    Index best = 0;
    for (Index l = 1; l < r.width; ++l)
      if (r.value[i * r.width + l] > r.value[i * r.width + best]) best = l;
    found_[chunk].push_back(
        {static_cast<int>(rows[i]), 1 + static_cast<int>(r.sparse ? r.cluster[i * r.width + best] : best)});
  }
}

void LabelsWatch::write_result(Writer& out) const {
  out.integer(static_cast<std::int64_t>(found_.size()));
  for (const std::vector<Row>& chunk : found_) out.list(chunk);
}

void LabelsWatch::read_result(Reader& in, const std::shared_ptr<const Weights>&) {
  found_.clear();
  for (std::int64_t n = in.integer(); n > 0; --n) found_.push_back(in.list<std::vector<Row>>());
}

void LabelsWatch::put_into(int* label, const Batch& batch) const {
  for (const std::vector<Row>& chunk : found_)
    for (const Row& x : chunk) label[batch.row_number(x.row)] = x.label;
}

}  // namespace bnpvi
