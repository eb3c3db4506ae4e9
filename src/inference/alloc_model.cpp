#include "inference/alloc_model.h"

#include <stdexcept>

#include "inference/batch_work.h"
#include "inference/move.h"

namespace bnpvi {

namespace {

class PlainVisitor final : public Visitor {
 public:
  explicit PlainVisitor(const AllocModel& alloc) : alloc_(alloc) {}
  Summary visit(const Visit& visit) override { return alloc_.local_step(visit); }

 private:
  const AllocModel& alloc_;
};

}  // namespace

std::shared_ptr<const Weights> AllocModel::visit_weights(const ObsModel& obs, const DataShape&,
                                                         const Summary& effective, Pool* pool,
                                                         double* evidence) const {
  return std::make_shared<const Weights>(
      make_weights(obs, effective.obs.data(), effective.k, pool, evidence));
}

std::unique_ptr<Visitor> AllocModel::visitor() const { return std::make_unique<PlainVisitor>(*this); }

std::unique_ptr<Watch> AllocModel::read_watch(const std::string& kind, Reader&) const {
  throw std::invalid_argument("internal error: this model has no watch of the kind " + kind);
}

std::unique_ptr<BatchWork> AllocModel::read_work(const std::string& kind, Index,
                                                 std::shared_ptr<const WorkGlobals>, Reader&) const {
  throw std::invalid_argument("internal error: this model has no work of the kind " + kind);
}

Summary AllocModel::own_start(const Problem&, Index, Stream&, Pool&) const {
  throw std::logic_error("this allocation model has no start of its own");
}

Globals AllocModel::merged(const Globals& globals, Index a, Index b) const {
  Summary s = globals.effective;
  s.merge(a, b);
  return global_step(s, {});
}

std::vector<MoveKind> AllocModel::moves() const { return {}; }

}  // namespace bnpvi
