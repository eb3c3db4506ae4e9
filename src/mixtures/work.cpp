// Recreates watches and work of mixtures in the process that carries them out.
#include "mixtures/claimed_rows.h"
#include "mixtures/mixture.h"
#include "mixtures/pair_entropy.h"
#include "mixtures/restricted_step.h"
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

std::unique_ptr<Watch> MixtureAlloc::read_watch(const std::string& kind, Reader& in) const {
  if (kind == "target_rows") return TargetRows::read(in);
  if (kind == "touched_rows") return TouchedSink::read(in);
  if (kind == "pair_entropy") return PairEntropy::read(in);
  return WorkReader::read_watch(kind, in);
}

std::unique_ptr<BatchWork> MixtureAlloc::read_work(const std::string& kind, Index batch,
                                                   std::shared_ptr<const WorkGlobals> at, Reader& in) const {
  if (kind == "assign") return std::make_unique<AssignWork>(batch, in);
  if (kind == "claim") return std::make_unique<ClaimWork>(batch, in);
  if (kind == "statistic") return std::make_unique<StatisticWork>(batch, in);
  if (kind == "without") return std::make_unique<WithoutWork>(batch, in);
  return WorkReader::read_work(kind, batch, std::move(at), in);
}

}  // namespace bnpvi::mixtures
