// Takes rows out of a state, so that a move can reassign them.
#pragma once
#include "inference/moves/unit_edit.h"
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

/// Rows from which a cluster is taken without a visit: the other clusters share what it has of each row in
/// proportion to what they have. A visit with the same parameters would do the same.
struct Spread {
  Index cluster = 0;
  TouchedRows rows;
};

/// A task that subtracts some rows from the summary (sums of statistics) of their batch, and takes a cluster
/// from others (Spread).
class WithoutWork final : public BatchWork {
 public:
  WithoutWork(Index batch, std::shared_ptr<const Summary> whole, const TouchedRows& touched,
              const Spread& spread)
      : BatchWork(batch, nullptr), whole_(std::move(whole)), touched_(&touched), spread_(&spread) {}
  WithoutWork(Index batch, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  std::string kind() const override { return "without"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override { rest.write(out); }
  void read_result(Reader& in) override { rest = Summary::read(in); }

  Summary rest;

 private:
  std::shared_ptr<const Summary> whole_;
  std::unique_ptr<TouchedRows> own_;  // these two are set if the task was read from an archive
  std::unique_ptr<Spread> own_spread_;
  const TouchedRows* touched_;
  const Spread* spread_;
};

/// Prepares another visit of some rows. Returns for every batch the rows to be visited, and the summary (sums
/// of statistics and entropy) of its other rows.
std::vector<EditedPart> parts_without(const Problem& problem, Pool& pool, const State& state,
                                      const std::vector<TouchedRows>& touched);

/// Like parts_without(), for rows from which `cluster` is to be taken. Those of which it has less than
/// `least` are not visited: the other clusters share it (Spread), also in the explicit responsibilities of
/// the state.
std::vector<EditedPart> parts_without_cluster(const Problem& problem, Pool& pool, State& state,
                                              const std::vector<TouchedRows>& touched, Index cluster,
                                              double least);

}  // namespace bnpvi::mixtures
