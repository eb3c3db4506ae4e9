#include "networks/overlap.h"

#include <algorithm>

#include "inference/learn/check_progress.h"
#include "networks/network_fit.h"

namespace bnpvi::networks {

void Overlap::write(Writer& out) const {
  out.integer(k_);
  if (links_->labelled()) out.list(owner_);
  out.list(sticks_.u);
  out.list(sticks_.omega);
}

void Overlap::read(Reader& in) {
  k_ = in.integer();
  require_stored(k_ > 0, "number of communities");
  owner_ = read_owners(in, *links_, k_);
  sticks_.u = read_numbers(in, k_, above_none, "sticks");
  sticks_.omega = read_numbers(in, k_, above_none, "sticks");
  require_stored(*std::max_element(sticks_.u.begin(), sticks_.u.end()) < 1, "sticks");
}

Index Overlap::main_community(Index i) const {
  Ends most{0, 0};
  while (!allows(i, most.k)) ++most.k;
  for (const Ends& end : ends(i))
    if (end.value > most.value) most = end;
  return most.k;
}

std::vector<Overlap::PartOwners> Overlap::owners_of_parts(const std::vector<Division>& divisions) const {
  std::vector<PartOwners> out;
  for (const Division& d : divisions) {
    bool rest = false, leaves = false;
    for (Index i = 0; owner_[d.of] > 0 && i < links_->n(); ++i)
      if (links_->has_label(i) && main_community(i) == d.of)
        (std::binary_search(d.leaves.begin(), d.leaves.end(), i) ? leaves : rest) = true;
    out.push_back({rest || !leaves ? owner_[d.of] : 0, leaves ? owner_[d.of] : 0});
  }
  return out;
}

Vec allowed_shares(const Links& links, const Shares& shares) {
  Vec out = shares.weight;
  for (Index i = 0; links.labelled() && i < links.n(); ++i) {
    double* row = out.data() + i * shares.k;
    double sum = 0;
    const auto allowed = [&](Index k) { return links.allows(i, shares.owner[k]); };
    for (Index k = 0; k < shares.k; ++k) sum += row[k] = allowed(k) ? row[k] : 0;
    for (Index k = 0; k < shares.k && !(sum > 0); ++k) row[k] = allowed(k) ? 1 : 0;
  }
  return out;
}

Owners in_order(const Owners& owner, const std::vector<Index>& order) {
  Owners out;
  for (Index k : order) out.push_back(owner[k]);
  return out;
}

Vec with_columns_divided(const Vec& x, Index k, const std::vector<Division>& divisions, double share) {
  const std::size_t before = static_cast<std::size_t>(k), after = before + divisions.size();
  const std::size_t n = x.size() / before;
  Vec out(n * after);
  for (std::size_t i = 0; i < n; ++i) std::copy_n(x.data() + i * before, before, out.data() + i * after);
  for (std::size_t d = 0; d < divisions.size(); ++d) {
    const std::size_t of = static_cast<std::size_t>(divisions[d].of);
    const auto divide = [&](std::size_t i, double leaving) {
      out[i * after + before + d] = leaving * x[i * before + of];
      out[i * after + of] = (1 - leaving) * x[i * before + of];
    };
    for (std::size_t i = 0; i < n; ++i) divide(i, 1 - share);
    for (int i : divisions[d].leaves) divide(static_cast<std::size_t>(i), share);
  }
  return out;
}

Vec with_columns_added(const Vec& x, Index k, Index a, Index b) {
  Vec out = x;
  for (std::size_t at = 0; at < x.size(); at += k) out[at + a] += out[at + b];
  return without_column(out, k, b);
}

Vec without_column(const Vec& x, Index k, Index column) {
  Vec out;
  out.reserve(x.size());
  for (std::size_t at = 0; at < x.size(); at += k)
    for (Index j = 0; j < k; ++j)
      if (j != column) out.push_back(x[at + j]);
  return out;
}

Vec with_columns_in_order(const Vec& x, Index k, const std::vector<Index>& order) {
  Vec out;
  out.reserve(x.size());
  for (std::size_t at = 0; at < x.size(); at += k)
    for (Index j : order) out.push_back(x[at + j]);
  return out;
}

}  // namespace bnpvi::networks
