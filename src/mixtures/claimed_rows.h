// Rows that some clusters would take from others.
#pragma once
#include "mixtures/restricted_step.h"
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

/// Rows of which the first clusters of a restricted step would have at least so much.
struct Claim {
  RestrictedStep step;
  Index first;
  double least;
};

/// Those of some rows of a batch.
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

  std::vector<Index> claimed;  // positions among the rows, ascending

 private:
  std::shared_ptr<const Claim> claim_;
  std::vector<Index> rows_;
};

/// Of rows by batch those on which a group has so much, and those that are claimed.
std::vector<TouchedRows> with_claimed(const Problem& problem, Pool& pool,
                                      const std::vector<TouchedRows>& rows, const Target& group,
                                      double least_mass, Claim claim);

}  // namespace bnpvi::mixtures
