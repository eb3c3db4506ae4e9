// Finds rows that a group of clusters should take from other clusters.
#pragma once
#include "mixtures/restricted_step.h"

namespace bnpvi::mixtures {

/// A test whether a group of clusters should take over a row. The mass of the row is divided among the
/// clusters of `step` only. The row is claimed if the first `first` of these, the group, then get at least
/// `least` of it.
struct Claim {
  RestrictedStep step;
  Index first;
  double least;
};

/// Finds which of some rows of a batch are claimed (Claim).
class ClaimWork final : public BatchWork {
 public:
  ClaimWork(Index batch, std::shared_ptr<const Claim> claim, std::vector<Index> rows)
      : BatchWork(batch, nullptr), claim_(std::move(claim)), rows_(std::move(rows)) {}
  ClaimWork(Index batch, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  std::string kind() const override { return "claim"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override { out.list(claimed); }
  void read_result(Reader& in) override { claimed = in.list<std::vector<Index>>(); }

  std::vector<Index> claimed;  // positions among `rows`, ascending

 private:
  std::shared_ptr<const Claim> claim_;
  std::vector<Index> rows_;
};

/// Selects among some rows of each batch those that the group would take from other clusters (Claim). The
/// result has their positions among these rows, ascending.
std::vector<std::vector<Index>> claimed_rows(const Problem& problem, Pool& pool,
                                             const std::vector<std::vector<Index>>& rows, Claim claim);

}  // namespace bnpvi::mixtures
