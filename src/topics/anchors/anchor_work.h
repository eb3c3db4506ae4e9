// The sums over documents that the search for anchor words needs, computed batch by batch.
#pragma once
#include <memory>

#include "inference/learn/batch_work.h"
#include "topics/anchors/co_occurrence.h"

namespace bnpvi::topics {

/// The sums over all documents from which anchor words are found, computed one batch at a time. Other
/// processes compute them if the problem has workers; otherwise this process does.
class SumsOfBatches final : public DocumentSums {
 public:
  explicit SumsOfBatches(const Problem& problem, Pool& pool) : problem_(problem), pool_(pool) {}
  Counts counts() override;
  Vec times_by_half(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) override;
  Vec times(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) override;
  Vec columns(const std::vector<int>& words) override;

 private:
  struct Wanted;
  friend class AnchorWork;
  Vec sum(Wanted wanted);
  const Problem& problem_;
  Pool& pool_;
};

/// A task for another process: computes one of the sums of DocumentSums over the documents of a batch.
class AnchorWork final : public BatchWork {
 public:
  AnchorWork(Index batch, std::shared_ptr<const SumsOfBatches::Wanted> wanted);
  AnchorWork(Index batch, Reader& in);
  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  std::string kind() const override { return "anchors"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override { out.list(found); }
  void read_result(Reader& in) override { found = in.list<Vec>(); }

  Vec found;

 private:
  std::shared_ptr<const SumsOfBatches::Wanted> wanted_;
};

}  // namespace bnpvi::topics
