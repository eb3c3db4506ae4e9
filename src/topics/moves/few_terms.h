// The documents of a proposal, restricted to the terms that occur in them.
#pragma once
#include <memory>
#include <vector>

#include "foundation/data.h"
#include "topics/moves/document_refs.h"

namespace bnpvi::topics {

/// A copy of some documents of counts in which their terms are columns 0 .. n − 1, and column n stands for
/// all other terms together. This suffices for everything that is computed of topics while only these
/// documents are visited again: the statistics of the other terms do not change meanwhile, so that the
/// evidence differs from that of all terms by a constant for each topic.
class FewTerms {
 public:
  /// Null where a copy would not pay: where documents are groups of rows, are many, or contain most of the
  /// terms.
  static std::unique_ptr<const FewTerms> of(const Problem& problem,
                                            const std::vector<DocumentRef>& documents);

  /// The model of counts of the columns of the copy, with the same prior.
  const ObsModel& obs() const { return *obs_; }
  /// The copy of the documents, in the given order.
  const Dataset& data() const { return data_; }
  const std::vector<Index>& units() const { return units_; }
  /// The terms, as columns of the copy, of the entries of document i.
  const int* terms_of(Index i) const { return column_.data() + row_start_[i]; }

  /// A statistic of all terms, restricted to the columns of the copy.
  Vec restricted(const double* t) const;
  Summary restricted(const Summary& s) const;

  /// The log evidence of a topic that the copy leaves out: Λ(T) − Λ(T restricted to the columns of the copy).
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
