#include "inference/learn/alloc_model.h"

#include "inference/learn/alloc_capabilities.h"
#include "inference/moves/move.h"

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

std::unique_ptr<Visitor> AllocModel::visitor() const { return std::make_unique<PlainVisitor>(*this); }

AllocCapabilities AllocModel::capabilities() const { return {}; }

}  // namespace bnpvi
