// Writes and reads the state between two laps. Sums over nodes are stored as laps have accumulated them, with
// all their digits.
#include <algorithm>

#include "inference/learn/check_progress.h"
#include "networks/gamma_network.h"
#include "networks/network_fit.h"

namespace bnpvi::networks {

namespace {

bool positive(std::initializer_list<double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double x) { return x >= above_none && x < HUGE_VAL; });
}

}  // namespace

void GammaNetwork::write(Writer& out) const {
  Overlap::write(out);
  out.list(g_.communities);
  out.list(&g_.background, 1);
  out.list(&g_.totals, 1);
  out.number(g_.links);
  out.list(own_);
  out.list(tilde_);
  out.flag(stale_);
  for (const Row& row : rows_) {
    out.integer(static_cast<std::int64_t>(row.size()));
    for (const Part& part : row) {
      out.integer(part.k);
      for (double x : {part.ends, part.shape, part.rate}) out.number(x);
    }
  }
}

void GammaNetwork::read(Reader& in) {
  Overlap::read(in);
  g_.communities = in.list<std::vector<Community>>();
  require_stored(static_cast<Index>(g_.communities.size()) == k_, "communities");
  g_.background = in.list<std::vector<Community>>().at(0);
  for (const Community& it : g_.communities)
    require_stored(it.mean >= 0 && positive({it.shape, it.rate, it.phi_shape, it.phi_rate}), "communities");
  g_.totals = in.list<std::vector<Totals>>().at(0);
  g_.links = in.number();
  for (Vec* x : {&own_, &tilde_}) *x = read_numbers(in, n(), any, "activities of nodes");
  stale_ = in.flag();
  for (Row& row : rows_) {
    row.clear();
    for (std::int64_t left = in.integer(), before = -1; left > 0; --left) {
      const std::int64_t k = in.integer();
      const double ends = in.number(), shape = in.number(), rate = in.number();
      require_stored(before < k && k < k_ && positive({shape, rate}), "communities of a node");
      before = k;
      row.push_back({static_cast<int>(k), ends, 0, 0, 0, 0, 0, 0});
      set(row.back(), shape, rate, priors_.alpha);
    }
  }
  find_nodes();
}

}  // namespace bnpvi::networks
