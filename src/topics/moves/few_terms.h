// A copy of the documents of a proposal, restricted to the terms (words) that occur in them.
#pragma once
#include <memory>
#include <vector>

#include "foundation/data.h"
#include "topics/moves/document_refs.h"

namespace bnpvi::topics {

/// A copy of some documents of counts. It has a column for each of the n terms (words) that occur in them;
/// column n stands for all other terms together. As long as a proposal visits no other documents, all its
/// computations on topics can use the copy. The statistics of the other terms do not change meanwhile. So the
/// log evidence of each topic in the copy differs from the one in the full data by a constant.
class FewTerms {
 public:
  /// Makes the copy of these documents. Returns null if a copy would not save time: documents are groups of
  /// rows, are too many, or contain most of the terms.
  static std::unique_ptr<const FewTerms> of(const Problem& problem,
                                            const std::vector<DocumentRef>& documents);

  /// The observation model of the copied counts. Its prior is that of all terms, restricted to the columns of
  /// the copy.
  const ObsModel& obs() const { return *obs_; }
  /// The counts of the copied documents, in the order in which the documents were passed to of().
  const Dataset& data() const { return data_; }
  const std::vector<Index>& units() const { return units_; }
  /// The terms of document i, as column numbers of the copy, one for each entry of the document.
  const int* terms_of(Index i) const { return column_.data() + row_start_[i]; }

  /// Restricts the statistic t of a topic to the columns of the copy: the terms that occur in the copied
  /// documents, and one column for all other terms. The next function restricts all statistics of a summary
  /// (sums over rows).
  Vec restricted(const double* t) const;
  Summary restricted(const Summary& s) const;

  /// The part of a topic's log evidence Λ that the copy leaves out: Λ(T) − Λ(T restricted to the columns of
  /// the copy). all: the model of all terms; t: the topic's statistic T.
  double evidence_beyond(const ObsModel& all, const double* t) const;

 private:
  FewTerms() = default;
  void copy(const Problem& problem, const std::vector<DocumentRef>& documents,
            const std::vector<int>& column_of);

  std::vector<int> terms_;
  std::shared_ptr<const ObsModel> obs_;
  std::vector<int> row_start_{0}, column_, classes_;
  Vec value_, weight_, group_value_;
  std::vector<Index> units_;
  Dataset data_;
};

}  // namespace bnpvi::topics
