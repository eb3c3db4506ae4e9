// The task of visiting some documents of a batch under changed topics, for a proposal.
#pragma once
#include "inference/learn/batch_work.h"
#include "topics/model/document_step.h"
#include "topics/model/term_sum.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

/// Tables and priors that are shared by all visits of documents at the same globals (the parameters'
/// posterior).
struct DocumentVisits {
  DocumentVisits(const TopicAlloc& alloc, const ObsModel& obs, const DataShape& data, const WorkGlobals& at,
                 Pool& pool);

  TopicTable table;  // table for documents of counts (TopicTable)
  DocumentPriors prior;
  std::unique_ptr<const ResponsePosterior> responses;
};

/// A task, for this or another process, that visits documents of a batch, beginning at given topics and
/// counts.
class DocumentsWork final : public BatchWork {
 public:
  /// documents: positions in the batch. start: topics and counts with which each document begins. search:
  /// whether documents also search for optima other than the one near their start. shared: what all visits
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

  ShareTable found;  // shares (topics and counts) found for these documents

 private:
  std::vector<Index> documents_;
  std::vector<std::vector<Share>> start_;
  bool search_;
  std::shared_ptr<const DocumentVisits> shared_;
};

}  // namespace bnpvi::topics
