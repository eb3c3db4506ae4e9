#include "mixtures/claimed_rows.h"

#include <algorithm>
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

std::vector<TouchedRows> with_claimed(const Problem& problem, Pool& pool,
                                      const std::vector<TouchedRows>& rows, const Target& group,
                                      double least_mass, Claim claim) {
  const auto shared = std::make_shared<const Claim>(std::move(claim));
  std::vector<std::vector<Index>> kept(rows.size()), asked(rows.size());
  std::vector<std::unique_ptr<ClaimWork>> work;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    std::vector<Index> others;
    for (Index n = 0; n < rows[b].size(); ++n) {
      if (rows[b].mass(n, group) >= least_mass) {
        kept[b].push_back(n);
        continue;
      }
      asked[b].push_back(n);
      others.push_back(rows[b].rows[n]);
    }
    work.push_back(std::make_unique<ClaimWork>(static_cast<Index>(b), shared, std::move(others)));
  }
  do_work(problem, pool, work);
  std::vector<TouchedRows> out;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    for (Index i : work[b]->claimed) kept[b].push_back(asked[b][i]);
    std::sort(kept[b].begin(), kept[b].end());
    out.push_back(rows[b].some(kept[b]));
  }
  return out;
}

}  // namespace bnpvi::mixtures
