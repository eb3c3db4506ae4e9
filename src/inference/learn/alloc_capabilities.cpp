#include "inference/learn/alloc_capabilities.h"

#include <stdexcept>

#include "inference/learn/batch_work.h"

namespace bnpvi {

namespace {

class FixedConcentrations final : public LearnedConcentrations {
 public:
  std::shared_ptr<const AllocModel> learned(const State&, Pool*) const override { return nullptr; }
  NamedArrays learned_fields() const override { return {}; }
  double log_hyperprior() const override { return 0; }
};

class NoWork final : public WorkReader {};

const FixedConcentrations fixed_concentrations;
const NoWork no_work;

}  // namespace

std::unique_ptr<Watch> WorkReader::read_watch(const std::string& kind, Reader&) const {
  throw std::invalid_argument("internal error: this model has no watch of the kind " + kind);
}

std::unique_ptr<BatchWork> WorkReader::read_work(const std::string& kind, Index,
                                                 std::shared_ptr<const WorkGlobals>, Reader&) const {
  throw std::invalid_argument("internal error: this model has no work of the kind " + kind);
}

const LearnedConcentrations& concentrations_of(const AllocModel& alloc) {
  const LearnedConcentrations* own = alloc.capabilities().concentrations;
  return own ? *own : fixed_concentrations;
}

const WorkReader& work_reader_of(const AllocModel& alloc) {
  const WorkReader* own = alloc.capabilities().work;
  return own ? *own : no_work;
}

std::shared_ptr<const Weights> visit_weights(const AllocModel& alloc, const ObsModel& obs,
                                             const DataShape& data, const Summary& effective, Pool* pool,
                                             double* evidence) {
  if (const OwnVisits* own = alloc.capabilities().visits)
    return own->visit_weights(obs, data, effective, pool, evidence);
  return std::make_shared<const Weights>(
      make_weights(obs, effective.obs.data(), effective.k, pool, evidence, true, effective.names.of));
}

Index cost_of_observation(const AllocModel& alloc, const ObsModel& obs, const DataShape& data) {
  const OwnVisits* own = alloc.capabilities().visits;
  return own ? own->cost_of_observation(obs, data) : obs.n_features();
}

Globals merged(const AllocModel& alloc, const Globals& globals, Index a, Index b) {
  if (const UnitJoins* own = alloc.capabilities().joins) return own->merged(globals, a, b);
  Summary s = globals.effective;
  s.merge(a, b);
  return alloc.global_step(s, {});
}

void complete_start(const AllocModel& alloc, Summary& start, double n_groups) {
  if (const OwnStatistics* own = alloc.capabilities().statistics) own->complete_start(start, n_groups);
}

Index stored_in_u(const AllocModel& alloc, Index k) {
  const StoredPairs* pairs = alloc.capabilities().pairs;
  return alloc.numbers_in_u(k) + (pairs ? pairs->numbers_of_pairs(k) : 0);
}

bool lacks_pairs(const AllocModel& alloc, const Vec& u, Index k) {
  const Index n = static_cast<Index>(u.size());
  return n == alloc.numbers_in_u(k) && n < stored_in_u(alloc, k);
}

bool remembers(const AllocModel& alloc) { return alloc.capabilities().remembered != nullptr; }

}  // namespace bnpvi
