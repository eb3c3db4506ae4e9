// The task of visiting some documents of a batch under changed topics, for a proposal.
#pragma once
#include "inference/learn/batch_work.h"
#include "topics/model/document_step.h"
#include "topics/model/term_sum.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

/// Tables and priors that all visits of documents share, as long as the globals (the posterior of the
/// parameters) stay the same.
struct DocumentVisits {
  DocumentVisits(const TopicAlloc& alloc, const ObsModel& obs, const DataShape& data, const WorkGlobals& at,
                 Pool& pool);

  TopicTable table;  // for documents of counts
  DocumentPriors prior;
  std::unique_ptr<const ResponsePosterior> responses;
};

/// A task that visits documents of one batch (updates their q(z)) from given topics and counts, in this
/// process or another one.
class DocumentsWork final : public BatchWork {
 public:
  /// documents: positions in the batch. start: for each document, the topics and counts with which it begins.
  /// search: whether documents also search for optima that are not near their start. shared: what all visits
  /// share; if null, the task computes it.
  DocumentsWork(Index batch, std::shared_ptr<const WorkGlobals> at, std::vector<Index> documents,
                std::vector<std::vector<Share>> start, bool search,
                std::shared_ptr<const DocumentVisits> shared);
  DocumentsWork(Index batch, std::shared_ptr<const WorkGlobals> at, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  std::string kind() const override { return "documents"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override { found.write(out, false); }
  void read_result(Reader& in) override { found = ShareTable::read(in, at->globals.weights); }

  ShareTable found;  // topics and counts of these documents after the visit

 private:
  std::vector<Index> documents_;
  std::vector<std::vector<Share>> start_;
  bool search_;
  std::shared_ptr<const DocumentVisits> shared_;
};

}  // namespace bnpvi::topics
