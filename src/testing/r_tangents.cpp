// Entries for tests: visits of rows with logistic likelihoods.
#include "observations/tangent_visit.h"
#include "r_convert.h"
#include "r_testing_entries.h"

using namespace bnpvi;

namespace {

Vec by_row(const Rcpp::NumericMatrix& x) {
  Vec out;
  for (int i = 0; i < x.nrow(); ++i)
    for (int j = 0; j < x.ncol(); ++j) out.push_back(x(i, j));
  return out;
}

// A visit of yes/no rows `cells` (y, then covariates) under the reduced weights `first` (TangentWeights, a
// row for each cluster), and then their sums under the weights `second` with responsibilities r: t, a row for
// each cluster. Between the two steps, the rows are replaced by the first rows of `changed`, with or without
// TangentVisit::forget_rows().
Rcpp::List engine_tangent_visit(Rcpp::NumericMatrix cells, Rcpp::NumericMatrix first,
                                Rcpp::NumericMatrix changed, bool forget, Rcpp::NumericMatrix second,
                                Rcpp::NumericMatrix r) {
  return entry([&] {
    const auto covariates = static_cast<std::size_t>(cells.ncol() - 1);
    const TangentLayout layout{1, false, true, Vec(covariates, 0.0), Vec(covariates, 1.0), {}, false};
    const TangentRows rows(layout);
    require(first.ncol() == TangentWeights(layout).all && second.ncol() == first.ncol() &&
                r.ncol() == second.nrow() && r.nrow() <= changed.nrow() && changed.nrow() <= cells.nrow(),
            "sizes that do not fit");
    Vec phi(static_cast<std::size_t>(cells.nrow() * rows.width));
    const auto take = [&](const Rcpp::NumericMatrix& from) {
      const Vec all = by_row(from);
      for (Index i = 0; i < from.nrow(); ++i)
        rows.write(all.data() + i * cells.ncol(), 1, phi.data() + i * rows.width);
    };
    take(cells);
    TangentVisit visit(rows, 1);
    Vec bounds(static_cast<std::size_t>(cells.nrow() * first.nrow()));
    visit.log_likelihoods(cells.nrow(), phi.data(), first.nrow(), by_row(first).data(), bounds.data());
    take(changed);
    if (forget) visit.forget_rows();
    const Index k = second.nrow(), p = layout.n_features();
    Vec t(static_cast<std::size_t>(k * p), 0.0);
    std::vector<double*> at;
    for (Index j = 0; j < k; ++j) at.push_back(t.data() + j * p);
    visit.add(r.nrow(), phi.data(), k, by_row(r).data(), by_row(second).data(), at.data());
    return made_in_r([&] {
      const auto matrix = [](const Vec& x, Index n, Index width) {
        return Rcpp::transpose(Rcpp::NumericMatrix(static_cast<int>(width), static_cast<int>(n), x.begin()));
      };
      using Rcpp::_;
      return Rcpp::List::create(_["bounds"] = matrix(bounds, cells.nrow(), first.nrow()),
                                _["t"] = matrix(t, k, p));
    });
  });
}

const testing::Entry entries[] = {
    {"engine_tangent_visit", {"cells", "first", "changed", "forget", "second", "r"}, engine_tangent_visit},
};

}  // namespace
