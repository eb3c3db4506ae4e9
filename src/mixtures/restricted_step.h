// A restricted local step: the mass that a target has on some rows, divided among a few clusters.
#pragma once
#include "inference/learn/batch_work.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

/// Result of a restricted local step on the rows of one batch.
struct Redistributed {
  Vec left;            // p: statistic that left the target
  Vec arrived;         // k × p: statistic that each cluster received
  double entropy = 0;  // change of the entropy of q(z), exactly
};

/// Rows in feature space, block by block, by chunk.
using LoadedRows = std::vector<std::vector<FeatureBlock>>;

/// What the step depends on beside the rows: everything else of the fit is held fixed.
struct RestrictedStep {
  Index k = 0;
  Vec t;              // k × p: statistics at which it is taken
  Vec log_weights;    // k × (1 + C), as MixtureAlloc has them
  bool hard = false;  // each row belongs to its best cluster alone

  /// share: receives p_n (rows × k) unless null. loaded: the same rows, where they are in memory already (or
  /// empty); with it only `arrived` and the share are computed.
  Redistributed on(const ObsModel& obs, const Dataset& data, const MassOnRows& where, Pool& pool,
                   Vec* share = nullptr, const LoadedRows* loaded = nullptr) const;

  /// p_n of these rows alone (rows × k), never hard.
  Vec shares(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows, Pool& pool) const;

  void write(Writer& out) const;
  static RestrictedStep read(Reader& in);
};

/// The step on rows of a batch.
class AssignWork final : public BatchWork {
 public:
  /// share: as of RestrictedStep::on(), here; null elsewhere.
  AssignWork(Index batch, std::shared_ptr<const RestrictedStep> step, const MassOnRows& where, Vec* share)
      : BatchWork(batch, nullptr), step_(std::move(step)), where_(&where), share_(share) {}
  AssignWork(Index batch, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override {
    found = step_->on(problem.obs, data.data, *where_, pool, share_);
  }
  std::string kind() const override { return "assign"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override;
  void read_result(Reader& in) override;

  Redistributed found;

 private:
  std::shared_ptr<const RestrictedStep> step_;
  std::unique_ptr<MassOnRows> own_;  // where the task was read
  const MassOnRows* where_;
  Vec* share_ = nullptr;
};

/// MassOnRows::statistic() of a batch.
class StatisticWork final : public BatchWork {
 public:
  StatisticWork(Index batch, const MassOnRows& where) : BatchWork(batch, nullptr), where_(&where) {}
  StatisticWork(Index batch, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override {
    t = where_->statistic(problem.obs, data.data, pool);
  }
  std::string kind() const override { return "statistic"; }
  void write_task(Writer& out) const override { where_->write(out); }
  void write_result(Writer& out) const override { out.list(t); }
  void read_result(Reader& in) override { t = in.list<Vec>(); }

  Vec t;

 private:
  std::unique_ptr<MassOnRows> own_;
  const MassOnRows* where_;
};

}  // namespace bnpvi::mixtures
