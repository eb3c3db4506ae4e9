// An entry that calls single kernels.
#include <algorithm>

#include "kernels/kernels.h"
#include "kernels/tangent_kernels.h"
#include "r_convert.h"
#include "r_testing_entries.h"

using namespace bnpvi;

namespace {

/// A row-major copy of an R matrix with rows `pad` doubles more than its width apart, starting `shift`
/// doubles into its storage; the gaps hold a guard value that no kernel may change.
class Padded {
 public:
  Padded(const Rcpp::NumericMatrix& m, Index pad, Index shift)
      : n_(m.nrow()), width_(m.ncol()), ld_(width_ + pad), shift_(shift) {
    store_.assign(static_cast<std::size_t>(shift_ + n_ * ld_ + 8), guard);
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < width_; ++j) at(i)[j] = m[j * n_ + i];
  }
  Index n() const { return n_; }
  Index width() const { return width_; }
  Index ld() const { return ld_; }
  double* at(Index i) { return store_.data() + shift_ + i * ld_; }
  double* data() { return at(0); }

  Rcpp::NumericMatrix checked() {
    Rcpp::NumericMatrix m(static_cast<int>(n_), static_cast<int>(width_));
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < width_; ++j) m[j * n_ + i] = at(i)[j];
    for (Index i = 0; i < n_; ++i) std::fill_n(at(i), width_, guard);
    for (double x : store_)
      if (x != guard) throw std::logic_error("a kernel wrote outside its array");
    return m;
  }

 private:
  static constexpr double guard = 12345.678;
  Index n_, width_, ld_, shift_;
  Vec store_;
};

// Runs kernel `which` on the matrices of `args` (vectors as matrices with one row, indices from 0), stored
// with the given padding and shift. Returns the kernel's outputs by name.
Rcpp::List engine_kernel(std::string version, std::string which, Rcpp::List args, int pad, int shift) {
  using Rcpp::_;
  const Kernels* found = kernels_named(version.c_str());
  if (found == nullptr) throw std::invalid_argument("no kernels of version " + version);
  const Kernels& kernel = *found;
  const auto matrix = [&](const char* name) {
    return Padded(Rcpp::as<Rcpp::NumericMatrix>(args[name]), pad, shift);
  };
  const auto empty = [&](Index n, Index width) {
    return Padded(Rcpp::NumericMatrix(static_cast<int>(n), static_cast<int>(width)), pad, shift);
  };

  if (which == "product_nt") {
    Padded a = matrix("a"), b = matrix("b"), c = empty(a.n(), b.n());
    kernel.product_nt(a.n(), b.n(), a.width(), a.data(), a.ld(), b.data(), b.ld(), c.data(), c.ld());
    return Rcpp::List::create(_["c"] = c.checked());
  }
  if (which == "product_packed") {
    Padded a = matrix("a"), b = matrix("b"), c = empty(a.n(), b.n());
    const Index size = kernel.packed_size(b.n(), b.width());
    Padded packed = empty(1, size);
    kernel.pack(b.n(), b.width(), b.data(), b.ld(), packed.data());
    kernel.product_packed(a.n(), b.n(), a.width(), a.data(), a.ld(), packed.data(), c.data(), c.ld());
    packed.checked();
    return Rcpp::List::create(_["c"] = c.checked());
  }
  if (which == "selected_product_nt") {
    Rcpp::IntegerVector index = args["index"];
    Padded a = matrix("a"), b = matrix("b"), c = empty(index.size(), b.n());
    kernel.selected_product_nt(index.size(), b.n(), a.width(), index.begin(), a.data(), a.ld(), b.data(),
                               b.ld(), c.data(), c.ld());
    return Rcpp::List::create(_["c"] = c.checked());
  }
  if (which == "dot_rows") {
    Rcpp::IntegerVector index = args["index"];
    Padded a = matrix("a"), x = matrix("x"), out = empty(1, index.size());
    kernel.dot_rows(index.size(), a.width(), index.begin(), a.data(), a.ld(), x.data(), out.data());
    return Rcpp::List::create(_["out"] = out.checked());
  }
  if (which == "weigh_rows") {
    Rcpp::IntegerVector index = args["index"];
    Padded x = matrix("x"), b = matrix("b"), product = matrix("factor"), sum = empty(1, b.width());
    kernel.weigh_rows(index.size(), b.width(), index.begin(), x.data(), b.data(), b.ld(), product.data(),
                      sum.data(), product.data());
    return Rcpp::List::create(_["sum"] = sum.checked(), _["product"] = product.checked());
  }
  if (which == "add_product_tn") {
    Padded r = matrix("r"), a = matrix("a"), s = matrix("s");
    kernel.add_product_tn(r.n(), r.width(), a.width(), r.data(), r.ld(), a.data(), a.ld(), s.data(), s.ld());
    return Rcpp::List::create(_["s"] = s.checked());
  }
  if (which == "add_product") {
    Padded r = matrix("r"), a = matrix("a"), s = matrix("s");
    tangent_kernels_named(kernel.name)
        ->add_product(s.n(), s.width(), a.n(), r.data(), r.ld(), a.data(), a.ld(), s.data(), s.ld());
    return Rcpp::List::create(_["s"] = s.checked());
  }
  if (which == "add_transposed") {
    Padded a = matrix("a"), base = matrix("base"), share = matrix("share"), out = empty(1, a.n() * a.width());
    tangent_kernels_named(kernel.name)
        ->add_transposed(a.n(), a.width(), a.data(), a.ld(), base.data(), share.data(), out.data());
    return Rcpp::List::create(_["out"] = out.checked());
  }
  if (which == "packed_outer") {
    Padded v = matrix("v"), out = empty(v.n(), v.width() * (v.width() + 1) / 2);
    kernel.packed_outer(v.n(), v.width(), v.data(), v.ld(), out.data(), out.ld());
    return Rcpp::List::create(_["out"] = out.checked());
  }
  if (which == "softmax_rows") {
    Padded w = matrix("w");
    Rcpp::NumericVector log_norm(static_cast<int>(w.n()));
    kernel.softmax_rows(w.n(), w.width(), w.data(), w.ld(), Rcpp::as<double>(args["floor"]),
                        log_norm.begin());
    return Rcpp::List::create(_["w"] = w.checked(), _["log_norm"] = log_norm);
  }
  if (which == "responsibility_rows") {
    Padded w = matrix("w"), r = empty(w.n(), w.width());
    Rcpp::NumericVector entropy(static_cast<int>(w.n()));
    kernel.responsibility_rows(w.n(), w.width(), w.data(), w.ld(), Rcpp::as<double>(args["floor"]), r.data(),
                               r.ld(), entropy.begin());
    return Rcpp::List::create(_["r"] = r.checked(), _["entropy"] = entropy);
  }
  if (which == "add_sparse_rows") {
    Rcpp::IntegerVector index = args["index"];
    Padded x = matrix("x"), b = matrix("b"), y = matrix("y");
    kernel.add_sparse_rows(index.size(), y.width(), index.begin(), x.data(), b.data(), b.ld(), y.data());
    return Rcpp::List::create(_["y"] = y.checked());
  }
  if (which == "scatter_sparse_rows") {
    Rcpp::IntegerVector index = args["index"];
    Padded x = matrix("x"), r = matrix("r"), b = matrix("b");
    kernel.scatter_sparse_rows(index.size(), r.width(), index.begin(), x.data(), r.data(), b.data(), b.ld());
    return Rcpp::List::create(_["b"] = b.checked());
  }
  if (which == "largest_rows") {
    Padded w = matrix("w");
    const int width = Rcpp::as<int>(args["width"]);
    Rcpp::IntegerMatrix column(width, static_cast<int>(w.n()));
    if (args.containsElementNamed("guess")) {
      const Rcpp::IntegerVector guess = args["guess"];  // for every row
      for (Index i = 0; i < w.n(); ++i) {
        std::copy(guess.begin(), guess.end(), column.begin() + i * width);
        kernel.largest_from(w.width(), w.at(i), width, column.begin() + i * width);
      }
    } else {
      kernel.largest_rows(w.n(), w.width(), w.data(), w.ld(), width, column.begin());
    }
    Rcpp::NumericMatrix sorted(static_cast<int>(w.n()), width);
    for (int i = 0; i < sorted.nrow(); ++i) {
      std::sort(column.begin() + i * width, column.begin() + (i + 1) * width);
      for (int l = 0; l < width; ++l) sorted(i, l) = column(l, i);
    }
    return Rcpp::List::create(_["column"] = sorted);
  }
  if (which == "forward_step") {
    Padded a = matrix("a"), p = matrix("p"), e = matrix("e"), out = empty(1, a.width());
    const double sum = kernel.forward_step(a.width(), a.data(), p.data(), p.ld(), e.data(), out.data());
    return Rcpp::List::create(_["out"] = out.checked(), _["sum"] = sum);
  }
  if (which == "backward_step") {
    Padded b = matrix("b"), pt = matrix("pt"), e = matrix("e");
    kernel.backward_step(b.width(), b.data(), pt.data(), pt.ld(), Rcpp::as<double>(args["scale"]), e.data(),
                         b.data());
    return Rcpp::List::create(_["e"] = e.checked(), _["out"] = b.checked());
  }
  if (which == "exp_rows") {
    Padded w = matrix("w"), e = empty(w.n(), w.width());
    Rcpp::NumericVector top(static_cast<int>(w.n()));
    kernel.exp_rows(w.n(), w.width(), w.data(), w.ld(), e.data(), e.ld(), top.begin());
    return Rcpp::List::create(_["e"] = e.checked(), _["top"] = top);
  }
  if (which == "transpose_rows") {
    Padded a = matrix("a"), out = empty(a.width(), a.n());
    kernel.transpose_rows(a.n(), a.width(), a.data(), a.ld(), out.data(), out.ld());
    return Rcpp::List::create(_["out"] = out.checked());
  }
  if (which == "log_each" || which == "digamma_each" || which == "log_gamma_each") {
    const auto function = which == "log_each"       ? kernel.log_each
                          : which == "digamma_each" ? kernel.digamma_each
                                                    : kernel.log_gamma_each;
    Padded x = matrix("x"), out = empty(1, x.width());
    function(x.width(), x.data(), out.data());
    return Rcpp::List::create(_["out"] = out.checked());
  }
  if (which == "tangents") {
    Padded m = matrix("m"), kappa = matrix("kappa"), constant = matrix("constant"), offset = matrix("offset"),
           linear = matrix("linear"), square = matrix("square"), r = matrix("r");
    const Index n = m.width();
    Padded bound = empty(1, n), omega = bound, curve = bound, pull = bound, r_omega = bound, r_curve = bound;
    const TangentKernels& tangents = *tangent_kernels_named(kernel.name);
    tangents.bounds(n, m.data(), kappa.data(), constant.data(), offset.data(), linear.data(), square.data(),
                    bound.data(), omega.data(), curve.data());
    Padded sums = matrix("sums");
    tangents.pulls(n, kappa.data(), offset.data(), bound.data(), omega.data(), curve.data(), r.data(),
                   pull.data(), r_omega.data(), r_curve.data(), sums.data());
    return Rcpp::List::create(_["bound"] = bound.checked(), _["omega"] = omega.checked(),
                              _["curve"] = curve.checked(), _["pull"] = pull.checked(),
                              _["r_omega"] = r_omega.checked(), _["r_curve"] = r_curve.checked(),
                              _["sums"] = sums.checked());
  }
  if (which == "tangents_of_few") {
    Padded m = matrix("m"), kappa = matrix("kappa"), constant = matrix("constant"), offset = matrix("offset"),
           x = matrix("x"), mean = matrix("mean"), second = matrix("second"), r = matrix("r"),
           sums = matrix("sums");
    const Index n = x.width(), e = x.n();
    Padded bound = empty(1, n), omega = bound;
    const TangentKernels& tangents = *tangent_kernels_named(kernel.name);
    tangents.bounds_of_few[e - 1](n, m.data(), kappa.data(), constant.data(), offset.data(), x.data(), x.ld(),
                                  mean.data(), second.data(), bound.data(), omega.data());
    tangents.sums_of_few[e - 1](n, kappa.data(), offset.data(), bound.data(), omega.data(), r.data(),
                                x.data(), x.ld(), sums.data());
    return Rcpp::List::create(_["bound"] = bound.checked(), _["omega"] = omega.checked(),
                              _["sums"] = sums.checked());
  }
  if (which == "of_counts") {
    Padded a = matrix("a"), t = matrix("t"), b = matrix("b"), out = empty(1, t.width());
    Padded both = empty(1, t.width());
    const double shift = Rcpp::as<double>(args["shift"]);
    kernel.digamma_of_counts(t.width(), a.data(), t.data(), shift, out.data());
    const double rising =
        kernel.digamma_and_rising(t.width(), a.data(), t.data(), shift, b.data(), both.data());
    return Rcpp::List::create(_["digamma"] = out.checked(), _["joint_digamma"] = both.checked(),
                              _["joint_rising"] = rising, _["sum"] = kernel.positive_sum(t.width(), t.data()),
                              _["rising"] = kernel.log_rising_sum(t.width(), a.data(), t.data(), b.data()));
  }
  if (which == "scale_rows") {
    Padded e = matrix("e"), c = matrix("c"), top = matrix("top"), t = matrix("t");
    const double sum =
        kernel.scale_rows(t.n(), t.width(), e.data(), e.ld(), c.data(), c.ld(), top.data(), t.data(), t.ld());
    return Rcpp::List::create(_["t"] = t.checked(), _["sum"] = sum);
  }
  if (which == "scales") {
    // Rows are contiguous here: the padding of single rows is left out in all layouts.
    Padded ratio = matrix("ratio"), r = matrix("r"), c = matrix("c"), a = matrix("a"), sums = matrix("sums");
    Padded log = empty(1, r.width()), out = empty(1, r.width()), share = empty(1, r.width());
    const Index k = c.width(), n = r.width() / k;
    kernel.scale_log_weights(n, k, ratio.data(), c.data(), a.data(), log.data(), out.data());
    kernel.sum_scales(n, k, r.data(), ratio.data(), log.data(), share.data(), sums.data());
    return Rcpp::List::create(_["log"] = log.checked(), _["out"] = out.checked(),
                              _["share"] = share.checked(), _["sums"] = sums.checked());
  }
  if (which == "weighted_log_sum") {
    Padded c = matrix("c"), x = matrix("x");
    return Rcpp::List::create(_["sum"] = kernel.weighted_log_sum(x.width(), c.data(), x.data()));
  }
  if (which == "share_round" || which == "share_sweep") {
    Rcpp::IntegerVector row = args["row"];
    const double least = Rcpp::as<double>(args["least"]);
    Padded w = matrix("w"), g = matrix("g"), c = matrix("c");
    Padded s = empty(1, c.width()), share = empty(1, c.width()), y = empty(1, w.width());
    const double lowest = which == "share_round"
                              ? kernel.share_round(w.width(), c.width(), row.begin(), w.data(), g.data(),
                                                   g.ld(), c.data(), least, s.data(), share.data(), y.data())
                              : kernel.share_sweep(c.width(), w.width(), row.begin(), w.data(), g.data(),
                                                   g.ld(), c.data(), least, s.data(), share.data(), y.data());
    return Rcpp::List::create(_["s"] = s.checked(), _["share"] = share.checked(), _["y"] = y.checked(),
                              _["lowest"] = lowest);
  }
  if (which == "keep_largest") {
    Rcpp::IntegerVector row = args["row"];
    const int width = Rcpp::as<int>(args["width"]);
    Padded w = matrix("w"), g = matrix("g"), out = empty(row.size(), g.width());
    const Index words = (row.size() + 63) / 64;
    Vec scratch(static_cast<std::size_t>(8 * width));
    std::vector<unsigned long long> mask(static_cast<std::size_t>(g.width() * words));
    kernel.keep_largest(row.size(), g.width(), row.begin(), w.data(), g.data(), g.ld(), width, scratch.data(),
                        out.data(), out.ld(), mask.data(), words);
    Rcpp::NumericMatrix kept(static_cast<int>(row.size()), static_cast<int>(g.width()));
    for (Index u = 0; u < g.width(); ++u)
      for (Index j = 0; j < row.size(); ++j)
        kept[u * row.size() + j] = static_cast<double>(mask[u * words + j / 64] >> (j % 64) & 1);
    return Rcpp::List::create(_["out"] = out.checked(), _["kept"] = kept);
  }
  throw std::invalid_argument("no kernel " + which);
}

const testing::Entry entries[] = {
    {"engine_kernel", {"version", "which", "args", "pad", "shift"}, engine_kernel},
};

}  // namespace
