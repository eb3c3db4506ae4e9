// Entries for tests: best cuts and messages of trees, and clusters of stretches that join.
#include "chains/moves/stretches.h"
#include "chains/trees/tree_messages.h"
#include "r_convert.h"
#include "r_testing_entries.h"

using namespace bnpvi;
using namespace bnpvi::chains;

namespace {

// The block around `row` in one group of trees, with at most `most` rows, and its best cut: for each stretch
// its first and last row, from 1, and its part.
Rcpp::List engine_tree_cut(Rcpp::List data, Rcpp::List obs, int row, int most) {
  return entry([&] {
    const RData rdata(data);
    const Dataset& view = rdata.view();
    const auto model = make_obs_model(ListFields(obs));
    const Stretch block = subtree_around(view.back, {0, view.n}, row - 1, most);
    const BestCut cut = best_cut(*model, view, block, {});
    std::vector<double> begin, end, part;
    for (const Stretch& s : cut.stretches) {
      begin.push_back(static_cast<double>(s.begin + 1));
      end.push_back(static_cast<double>(s.end));
    }
    for (Index p : cut.part) part.push_back(static_cast<double>(p + 1));
    return Rcpp::List::create(Rcpp::_["block"] = Rcpp::NumericVector::create(block.begin + 1, block.end),
                              Rcpp::_["begin"] = begin, Rcpp::_["end"] = end, Rcpp::_["part"] = part,
                              Rcpp::_["t"] = cut.t);
  });
}

// Clusters with statistics t (K × p), of which those that are alike are joined until `least` are left: the
// statistics of what is left, and for each cluster the number, from 1, of the one that it became part of.
Rcpp::List engine_join_alike(Rcpp::List obs, Rcpp::NumericMatrix t, int least) {
  return entry([&] {
    const auto model = make_obs_model(ListFields(obs));
    const Index p = t.ncol();
    StretchClusters clusters;
    clusters.k = t.nrow();
    for (Index j = 0; j < clusters.k; ++j) {
      clusters.group.push_back(j);
      for (Index i = 0; i < p; ++i) clusters.t.push_back(t(j, i));
    }
    join_alike(*model, clusters, least);
    Rcpp::NumericMatrix left(static_cast<int>(clusters.k), static_cast<int>(p));
    for (Index j = 0; j < clusters.k; ++j)
      for (Index i = 0; i < p; ++i) left(j, i) = clusters.t[j * p + i];
    Rcpp::IntegerVector group;
    for (Index g : clusters.group) group.push_back(static_cast<int>(g) + 1);
    return Rcpp::List::create(Rcpp::_["t"] = left, Rcpp::_["group"] = group);
  });
}

// Messages of trees for given potentials (n × K). log_transition: PK × K, the positions one after the other;
// position: for each row, from 0. `fast_is_exact`: false if scaled messages may have been affected by a
// floor (least value).
Rcpp::List engine_tree_messages(Rcpp::NumericVector log_start, Rcpp::NumericMatrix log_transition,
                                Rcpp::NumericMatrix log_e, Rcpp::IntegerVector back,
                                Rcpp::IntegerVector position, bool log_space) {
  const Index k = log_start.size(), n = log_e.nrow();
  Vec transition, given;
  for (int i = 0; i < log_transition.nrow(); ++i)
    for (Index j = 0; j < k; ++j) transition.push_back(log_transition(i, j));
  for (Index t = 0; t < n; ++t)
    for (Index j = 0; j < k; ++j) given.push_back(log_e(t, j));
  const Chain chain(k, Vec(log_start.begin(), log_start.end()), transition);
  const TreeRows rows{n, back.begin(), position.begin()};
  Vec r = given, m(r.size()), u(r.size()), start(static_cast<std::size_t>(k)),
      in_log_space(transition.size()), pair(transition.size());
  double entropy = 0;
  TreeMessages messages(chain, log_space);
  const double log_z = messages.upward(rows, r.data(), m.data(), u.data());
  const bool exact = messages.downward(rows, log_z, r.data(), m.data(), u.data(),
                                       {start.data(), in_log_space.data(), &entropy});
  Vec products(pair.size());
  for (Index t = 0; t < n && !log_space; ++t)
    for (Index i = 0; i < k; ++i)
      for (Index j = 0; j < k; ++j)
        products[chain.block(position[t]) + i * k + j] += u[t * k + i] * m[t * k + j];
  entropy += add_transitions(chain, {products}, in_log_space, pair);
  Rcpp::IntegerVector state(static_cast<int>(n));
  most_probable_states(chain, rows, given.data(), state.begin());
  Rcpp::NumericMatrix resp(static_cast<int>(n), static_cast<int>(k)),
      counts(log_transition.nrow(), static_cast<int>(k));
  for (Index j = 0; j < k; ++j) {
    for (Index t = 0; t < n; ++t) resp(t, j) = r[t * k + j];
    for (int i = 0; i < counts.nrow(); ++i) counts(i, j) = pair[i * k + j];
  }
  return Rcpp::List::create(Rcpp::_["resp"] = resp, Rcpp::_["start"] = start, Rcpp::_["transition"] = counts,
                            Rcpp::_["entropy"] = entropy, Rcpp::_["log_z"] = log_z,
                            Rcpp::_["state"] = state + 1, Rcpp::_["fast_is_exact"] = exact,
                            Rcpp::_["log_evidence"] = log_evidence(chain, rows, given));
}

const testing::Entry entries[] = {
    {"engine_join_alike", {"obs", "t", "least"}, engine_join_alike},
    {"engine_tree_cut", {"data", "obs", "row", "most"}, engine_tree_cut},
    {"engine_tree_messages",
     {"log_start", "log_transition", "log_e", "back", "position", "log_space"},
     engine_tree_messages},
};

}  // namespace
