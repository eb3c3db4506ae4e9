#include "mixtures/division.h"

namespace bnpvi::mixtures {

std::vector<Redistributed> Division::assign(Pool& pool, const std::vector<MassOnRows>& by_batch,
                                            std::vector<Vec>* shares) const {
  if (shares) shares->resize(by_batch.size());
  std::vector<std::unique_ptr<AssignWork>> work;
  for (std::size_t b = 0; b < by_batch.size(); ++b)
    work.push_back(std::make_unique<AssignWork>(static_cast<Index>(b), step_, by_batch[b],
                                                shares ? &(*shares)[b] : nullptr));
  do_work(problem_, pool, work, Sharing::batches);
  std::vector<Redistributed> out;
  for (const auto& done : work) out.push_back(std::move(done->found));
  return out;
}

}  // namespace bnpvi::mixtures
