// The restricted local step: an update of q(z) that divides the mass that some clusters have on some rows
// among a few clusters.
#pragma once
#include "inference/learn/batch_work.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

/// The result of a restricted local step on the rows of one batch. It divides the mass of a target (one or
/// several clusters) among new clusters.
struct Redistributed {
  Vec left;            // statistic that left the target, p numbers
  Vec arrived;         // statistic that each cluster received, k × p
  double entropy = 0;  // exact change of the entropy of q(z)
};

/// The features of rows that are kept in memory: for each chunk (consecutive rows), blocks of some hundred
/// rows.
using LoadedRows = std::vector<std::vector<FeatureBlock>>;

/// Divides the mass of some rows among k clusters; everything else in the fit is held fixed.
struct RestrictedStep {
  Index k = 0;
  Vec t;              // statistics of the clusters, k × p
  Vec log_weights;    // log weights of the clusters, k × (1 + C), as in MixtureAlloc
  bool hard = false;  // each row belongs to its best cluster alone

  /// Divides the mass of each row in `where`. share: unless null, receives the proportions (rows × k).
  /// loaded: the features of the same rows if they are in memory, or empty. If they are given, only `arrived`
  /// and the proportions are computed.
  Redistributed on(const ObsModel& obs, const Dataset& data, const MassOnRows& where, Pool& pool,
                   Vec* share = nullptr, const LoadedRows* loaded = nullptr) const;

  /// The proportions in which each of these rows would be divided (rows × k); `hard` has no effect.
  Vec shares(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows, Pool& pool) const;

  void write(Writer& out) const;
  static RestrictedStep read(Reader& in);
};

/// A task that divides the mass of some rows of one batch among clusters (RestrictedStep).
class AssignWork final : public BatchWork {
 public:
  /// share: receives the proportions as in RestrictedStep::on(). Null if they are not wanted, or if another
  /// process does the task.
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
  std::unique_ptr<MassOnRows> own_;  // set if the task was read from an archive
  const MassOnRows* where_;
  Vec* share_ = nullptr;
};

/// A task that computes MassOnRows::statistic(), the statistic of some rows' mass, for one batch.
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
