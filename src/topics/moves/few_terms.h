// The documents of a proposal on the terms that they have.
#pragma once
#include <memory>
#include <vector>

#include "foundation/data.h"
#include "topics/moves/document_refs.h"

namespace bnpvi::topics {

/// A copy of some documents of counts in which their terms are columns 0 .. n − 1, and column n stands for
/// all other terms together: what has to be computed of topics while only these documents are visited again.
/// Statistics of the other terms do not change meanwhile, so that evidence differs from that of all terms by
/// a constant of each topic.
class FewTerms {
 public:
  /// Null where it would not pay: documents are groups of rows, are many, or have most terms among them.
  static std::unique_ptr<const FewTerms> of(const Problem& problem,
                                            const std::vector<DocumentRef>& documents);

  /// Counts of these columns, with the same prior.
  const ObsModel& obs() const { return *obs_; }
  /// The documents, in their order.
  const Dataset& data() const { return data_; }
  const std::vector<Index>& units() const { return units_; }
  /// Columns of document i.
  const int* terms_of(Index i) const { return column_.data() + row_start_[i]; }

  /// A statistic of all terms on these columns.
  Vec restricted(const double* t) const;
  Summary restricted(const Summary& s) const;

  /// Λ(T) less that of T restricted.
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
