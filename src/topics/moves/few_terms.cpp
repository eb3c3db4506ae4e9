#include "topics/moves/few_terms.h"

#include <algorithm>
#include <numeric>

#include "observations/counts_of_terms.h"
#include "observations/named_clusters.h"

namespace bnpvi::topics {

namespace {

// Guesses.
constexpr std::size_t most_documents = 4096;
constexpr double most_terms = 0.5;  // of all

}  // namespace

std::unique_ptr<const FewTerms> FewTerms::of(const Problem& problem,
                                             const std::vector<DocumentRef>& documents) {
  const DataShape shape = problem.source.shape();
  if (!rows_are_documents(problem.obs, shape) || documents.empty() || documents.size() > most_documents)
    return nullptr;
  std::vector<int> column_of(static_cast<std::size_t>(shape.d), -1);
  Index n = 0;
  for (std::size_t i = 0; i < documents.size();) {
    const Index b = documents[i].batch;
    const std::shared_ptr<const Batch> batch = problem.source.open(b);
    for (; i < documents.size() && documents[i].batch == b; ++i) {
      const Index row = batch->units[documents[i].at];
      for (int e = batch->data.row_start[row]; e < batch->data.row_start[row + 1]; ++e) {
        int& column = column_of[batch->data.column[e]];
        n += column < 0;
        column = 0;
      }
    }
    if (static_cast<double>(n) > most_terms * static_cast<double>(shape.d)) return nullptr;
  }
  if (const NamedClusters* names = problem.obs->capabilities().names)
    for (int s = 1; s <= names->n_names(); ++s)
      for (int v : names->columns_of(s)) column_of[v] = 0;
  std::unique_ptr<FewTerms> out(new FewTerms());
  for (Index v = 0; v < shape.d; ++v)
    if (column_of[v] == 0) {
      column_of[v] = static_cast<int>(out->terms_.size());
      out->terms_.push_back(static_cast<int>(v));
    }
  out->obs_ = counts_of_terms(problem.obs, out->terms_);
  out->copy(problem, documents, column_of);
  return out;
}

void FewTerms::copy(const Problem& problem, const std::vector<DocumentRef>& documents,
                    const std::vector<int>& column_of) {
  Index width = 0;
  bool weighted = false, labelled = false;
  for (std::size_t i = 0; i < documents.size();) {
    const Index b = documents[i].batch;
    const std::shared_ptr<const Batch> batch = problem.source.open(b);
    const Dataset& from = batch->data;
    weighted = weighted || from.weight;
    labelled = labelled || from.classes;
    data_.class_sets = from.class_sets;
    width = from.group_value ? from.group_width : 0;
    for (; i < documents.size() && documents[i].batch == b; ++i) {
      const Index row = batch->units[documents[i].at];
      for (int e = from.row_start[row]; e < from.row_start[row + 1]; ++e) {
        column_.push_back(column_of[from.column[e]]);
        value_.push_back(from.value[e]);
      }
      row_start_.push_back(static_cast<int>(column_.size()));
      weight_.push_back(from.weight_of(row));
      classes_.push_back(from.classes ? from.classes[row] : 0);
      if (width > 0)
        group_value_.insert(group_value_.end(), from.value_of_group(row), from.value_of_group(row) + width);
    }
  }
  data_.n = static_cast<Index>(documents.size());
  data_.d = static_cast<Index>(terms_.size()) + 1;
  data_.row_start = row_start_.data();
  data_.column = column_.data();
  data_.value = value_.data();
  data_.starts.resize(documents.size() + 1);
  std::iota(data_.starts.begin(), data_.starts.end(), Index{0});
  data_.rows_are_groups = true;
  if (weighted) data_.weight = weight_.data();
  if (labelled) data_.classes = classes_.data();
  if (width > 0) data_.group_value = group_value_.data();
  data_.group_width = width;
  units_.resize(documents.size());
  std::iota(units_.begin(), units_.end(), Index{0});
}

Vec FewTerms::restricted(const double* t) const {
  const std::size_t n = terms_.size();
  Vec out(n + 2);
  out[0] = t[0];
  double rest = t[0];
  for (std::size_t i = 0; i < n; ++i) {
    out[1 + i] = t[1 + terms_[i]];
    rest -= std::max(out[1 + i], 0.0);
  }
  out[n + 1] = std::max(rest, 0.0);
  return out;
}

Summary FewTerms::restricted(const Summary& s) const {
  SummaryShape shape = s.shape;
  shape.p = obs_->n_features();
  Summary out(shape, s.k, false);
  double* to = out.edit_t(0);
  for (Index j = 0; j < s.k; ++j) {
    const Vec t = restricted(s.t(j));
    to = std::copy(t.begin(), t.end(), to);
  }
  out.extra = s.extra;
  out.pair = s.pair;
  out.scalar = s.scalar;
  out.log_base = s.log_base;
  out.owner = s.owner;
  out.names = s.names;
  return out;
}

double FewTerms::evidence_beyond(const ObsModel& all, const double* t) const {
  return all.log_evidence(t) - obs_->log_evidence(restricted(t).data());
}

}  // namespace bnpvi::topics
