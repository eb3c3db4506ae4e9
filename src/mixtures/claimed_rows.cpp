#include "mixtures/claimed_rows.h"

#include <numeric>

namespace bnpvi::mixtures {

ClaimWork::ClaimWork(Index batch, Reader& in) : BatchWork(batch, nullptr) {
  auto claim = std::make_shared<Claim>();
  claim->step = RestrictedStep::read(in);
  claim->first = in.integer();
  claim->least = in.number();
  claim_ = std::move(claim);
  rows_ = in.list<std::vector<Index>>();
}

void ClaimWork::run(const Problem& problem, const Batch& data, Pool& pool) {
  const Vec share = claim_->step.shares(problem.obs, data.data, rows_, pool);
  for (std::size_t n = 0; n < rows_.size(); ++n) {
    const auto row = share.begin() + static_cast<std::ptrdiff_t>(n) * claim_->step.k;
    if (std::accumulate(row, row + claim_->first, 0.0) >= claim_->least)
      claimed.push_back(static_cast<Index>(n));
  }
}

void ClaimWork::write_task(Writer& out) const {
  claim_->step.write(out);
  out.integer(claim_->first);
  out.number(claim_->least);
  out.list(rows_);
}

std::vector<std::vector<Index>> claimed_rows(const Problem& problem, Pool& pool,
                                             const std::vector<std::vector<Index>>& rows, Claim claim) {
  const auto shared = std::make_shared<const Claim>(std::move(claim));
  std::vector<std::unique_ptr<ClaimWork>> work;
  for (std::size_t b = 0; b < rows.size(); ++b)
    work.push_back(std::make_unique<ClaimWork>(static_cast<Index>(b), shared, rows[b]));
  do_work(problem, pool, work, Sharing::batches);
  std::vector<std::vector<Index>> out;
  for (const auto& done : work) out.push_back(std::move(done->claimed));
  return out;
}

}  // namespace bnpvi::mixtures
