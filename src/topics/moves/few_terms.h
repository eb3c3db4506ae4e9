// A copy of the documents of a proposal, restricted to the terms (words) that occur in them.
#pragma once
#include <memory>
#include <vector>

#include "foundation/data.h"
#include "topics/moves/document_refs.h"

namespace bnpvi::topics {

/// A copy of some documents of counts with a column for each of their n terms; column n stands for all other
/// terms together. As long as only these documents are visited, the copy suffices for all computations on
/// topics. The statistics of the other terms do not change meanwhile, so the log evidence of each topic
/// differs from that of all terms by a constant.
class FewTerms {
 public:
  /// The copy of these documents; null where a copy would not save time, because documents are groups of
  /// rows, are many, or contain most of the terms.
  static std::unique_ptr<const FewTerms> of(const Problem& problem,
                                            const std::vector<DocumentRef>& documents);

  /// The observation model of the counts in this copy of some documents (restricted to their terms), with the
  /// same prior as that of all terms.
  const ObsModel& obs() const { return *obs_; }
  /// The data of this copy of some documents, in the order in which the documents were passed to of().
  const Dataset& data() const { return data_; }
  const std::vector<Index>& units() const { return units_; }
  /// The terms of the entries of document i, as column numbers of this copy of some documents.
  const int* terms_of(Index i) const { return column_.data() + row_start_[i]; }

  /// The statistic t of a topic, restricted to the columns of this copy of some documents: the terms that
  /// occur in them, and one column for all others. The next function restricts all statistics of a summary.
  Vec restricted(const double* t) const;
  Summary restricted(const Summary& s) const;

  /// The part of a topic's log evidence Λ that this copy of some documents leaves out: Λ(T) − Λ(T restricted
  /// to the columns of the copy), with T = t the topic's statistic.
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
