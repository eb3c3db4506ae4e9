#include "topics/moves/documents_work.h"

#include "topics/anchors/anchor_work.h"
#include "topics/model/allowed_topics.h"

namespace bnpvi::topics {

DocumentVisits::DocumentVisits(const TopicAlloc& alloc, const ObsModel& obs, const DataShape& data,
                               const WorkGlobals& at, Pool& pool)
    : table(rows_are_documents(obs, data) ? TopicTable(*at.globals.weights, true, &pool) : TopicTable()),
      prior(alloc.document_priors(at.globals)),
      responses(alloc.response_posterior(at.globals)) {}

DocumentsWork::DocumentsWork(Index batch, std::shared_ptr<const WorkGlobals> at, std::vector<Index> documents,
                             std::vector<std::vector<Share>> start, bool search,
                             std::shared_ptr<const DocumentVisits> shared)
    : BatchWork(batch, std::move(at)),
      documents_(std::move(documents)),
      start_(std::move(start)),
      search_(search),
      shared_(std::move(shared)) {}

DocumentsWork::DocumentsWork(Index batch, std::shared_ptr<const WorkGlobals> at, Reader& in)
    : BatchWork(batch, std::move(at)), documents_(in.list<std::vector<Index>>()) {
  for (std::size_t i = 0; i < documents_.size(); ++i) start_.push_back(in.list<std::vector<Share>>());
  search_ = in.flag();
}

void DocumentsWork::write_task(Writer& out) const {
  out.list(documents_);
  for (const std::vector<Share>& start : start_) out.list(start);
  out.flag(search_);
}

void DocumentsWork::run(const Problem& problem, const Batch& data, Pool& pool) {
  const auto& alloc = static_cast<const TopicAlloc&>(problem.alloc);
  const std::shared_ptr<const Weights>& weights = at->globals.weights;
  if (!shared_)
    shared_ = std::make_shared<const DocumentVisits>(alloc, problem.obs, problem.source.shape(), *at, pool);
  const AllowedTopics allowed(data.data, at->globals.effective);
  const Index n = static_cast<Index>(documents_.size()), n_chunks = TopicAlloc::count_chunks(n);
  std::vector<std::shared_ptr<ShareBlock>> blocks(static_cast<std::size_t>(n_chunks));
  found.unit.resize(documents_.size());
  pool.run(n_chunks, [&](Index chunk) {
    DocumentReader reader(problem.obs, data.data);
    DocStep step(shared_->prior, alloc.width(), alloc.response(), shared_->responses.get());
    ShareBlock& block = *(blocks[chunk] = std::make_shared<ShareBlock>());
    block.weights = weights;
    for (Index i = n * chunk / n_chunks; i < n * (chunk + 1) / n_chunks; ++i) {
      pool.poll();
      DocumentView view = reader.load(data.units[documents_[i]], *weights, &shared_->table, true);
      view.allowed = allowed.of(data.units[documents_[i]]);
      UnitShares& now = found.unit[i];
      now = TopicAlloc::visit(step, view, {start_[i], 0, 1}, block, static_cast<int>(chunk), search_);
      now.misses = now.wait = 0;
    }
    pool.spend(step.cost());
  });
  found.block.assign(blocks.begin(), blocks.end());
}

std::unique_ptr<BatchWork> TopicAlloc::read_work(const std::string& kind, Index batch,
                                                 std::shared_ptr<const WorkGlobals> at, Reader& in) const {
  if (kind == "anchors") return std::make_unique<AnchorWork>(batch, in);
  if (kind == "documents") return std::make_unique<DocumentsWork>(batch, std::move(at), in);
  return WorkReader::read_work(kind, batch, std::move(at), in);
}

}  // namespace bnpvi::topics
