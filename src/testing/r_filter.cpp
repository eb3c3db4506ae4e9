// Entries for tests: the selection of particles.
#include "chains/filters/particle_selection.h"
#include "r_convert.h"
#include "r_testing_entries.h"

using namespace bnpvi;
using namespace bnpvi::chains;

namespace {

Rcpp::List engine_select_particles(Rcpp::NumericVector weight, double most, double u) {
  const Selection s = select_particles(Vec(weight.begin(), weight.end()), static_cast<Index>(most), u);
  std::vector<int> kept;
  for (Index i : s.kept) kept.push_back(1 + static_cast<int>(i));
  return Rcpp::List::create(Rcpp::_["kept"] = kept, Rcpp::_["weight"] = s.weight);
}

const testing::Entry entries[] = {
    {"engine_select_particles", {"weight", "most", "u"}, engine_select_particles},
};

}  // namespace
