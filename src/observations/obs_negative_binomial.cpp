#include <cmath>
#include <limits>
#include <memory>

#include "foundation/interval_search.h"
#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/obs_beta.h"
#include "observations/obs_models.h"
#include "observations/shaped_columns.h"

namespace bnpvi {

namespace {

// f_y(s) = log Γ(y + s) − log Γ(s) is analytic in log s, so that it can be interpolated from its values at
// Chebyshev nodes of log s: f_y(s) = Σ_g ℓ_g(log s) f_y(s_g), which is linear in these values. For s from
// .005 to 50,000 the error is at most 8e-7 if y ≤ 1e6. Outside this range the function is continued by its
// tangent in log s; f is convex there, so that Λ can only be too low. If the size is known, it is the only
// node.
//
// A count with exposure e has the size s e, so that this range is that of the size at the exposure `unit`,
// the mean one.
class SizeNodes {
 public:
  static std::shared_ptr<const SizeNodes> learned(double unit) {
    static const std::shared_ptr<const SizeNodes> of_one(new SizeNodes);
    if (unit == 1) return of_one;
    const auto out = std::make_shared<SizeNodes>(*of_one);
    for (double& log_s : out->node_) log_s -= std::log(unit);
    out->table_.clear();
    return out;
  }
  explicit SizeNodes(double known) : node_{std::log(known)}, weight_{1} {}

  Index n() const { return static_cast<Index>(node_.size()); }
  double low() const { return node_.back(); }  // lowest log s
  double high() const { return node_.front(); }

  void values(double y, double exposure, double* out) const {
    const auto count = static_cast<std::size_t>(y);
    if (exposure == 1 && count < table_.size() && y == static_cast<double>(count)) {
      std::copy(table_[count].begin(), table_[count].end(), out);
      return;
    }
    for (Index g = 0; g < n(); ++g)
      out[g] = y > 0 ? -log_gamma_difference(exposure * std::exp(node_[g]), y) : 0;
  }

  Vec basis(double log_s) const {
    if (n() == 1) return {1};
    if (log_s >= high()) return tangent(0, log_s - high());
    if (log_s <= low()) return tangent(n() - 1, log_s - low());
    Vec out(node_.size());
    double sum = 0;
    for (Index g = 0; g < n(); ++g) {
      const double off = log_s - node_[g];
      if (off == 0) return tangent(g, 0);
      out[g] = weight_[g] / off;
      sum += out[g];
    }
    for (double& v : out) v /= sum;
    return out;
  }

 private:
  SizeNodes() {
    constexpr double pi = 3.14159265358979324;
    constexpr Index n_nodes = 40;
    node_.resize(n_nodes);
    weight_.resize(n_nodes);
    const double from = std::log(0.005), to = std::log(50000.0);
    for (Index g = 0; g < n(); ++g) {
      const double angle = (2 * static_cast<double>(g) + 1) * pi / (2 * n_nodes);
      node_[g] = 0.5 * (from + to) + 0.5 * (to - from) * std::cos(angle);
      weight_[g] = (g % 2 ? -1 : 1) * std::sin(angle);
    }
    table_.assign(512, Vec(n_nodes, 0.0));  // table for small counts; its size is a guess
    for (std::size_t y = 1; y < table_.size(); ++y)
      for (Index g = 0; g < n(); ++g)
        table_[y][g] = table_[y - 1][g] + std::log(std::exp(node_[g]) + static_cast<double>(y - 1));
  }

  // ℓ at the distance `off` from node h, on its tangent there: ℓ_g'(u_h) = (w_g / w_h) / (u_h − u_g), which
  // sum to 0.
  Vec tangent(Index h, double off) const {
    Vec out(node_.size(), 0.0);
    double rest = 0;
    for (Index g = 0; g < n() && off != 0; ++g) {
      if (g == h) continue;
      out[g] = off * weight_[g] / weight_[h] / (node_[h] - node_[g]);
      rest += out[g];
    }
    out[h] = 1 - rest;
    return out;
  }

  Vec node_, weight_;
  std::vector<Vec> table_;
};

// y | s, p: Γ(y + s e) / (Γ(s e) y!) p^y (1 − p)^(s e), with mean e s p / (1 − p);
// p | s ~ Beta(a, 1 + a s / m), so that the prior mean m does not depend on the size s, and s → ∞ is the
// Poisson model. The sums are y and f_y(e s_g); the count is Σ r e. With A = a + S_y and B = 1 + a s / m + s
// N,
//   Λ_s = Σ_g ℓ_g(log s) F_g + log B(A, B) − log B(a, 1 + a s / m).
class NegativeBinomialColumn {
 public:
  // unit: the mean exposure. The prior of the size is that at this exposure, so that nothing depends on the
  // unit of exposures.
  NegativeBinomialColumn(double a, double mean, const ShapePrior& size, double unit)
      : a_(a),
        mean_(mean),
        unit_(unit),
        size_(size),
        nodes_(size.known > 0 ? std::make_shared<const SizeNodes>(size.known) : SizeNodes::learned(unit)) {
    size_.prior.rate *= unit;
  }

  static constexpr bool has_base = true, fixed_points = false, wide_sums = false;
  static std::array<const char*, 2> parameters() { return {"a", "b"}; }
  static std::array<const char*, 2> means() { return {"size", "mean"}; }
  Index sums() const { return 1 + nodes_->n(); }

  void mend(double*) const {}
  void cell(double y, double exposure, double* sum) const {
    sum[0] = y;
    nodes_->values(y, exposure, sum + 1);
  }
  double log_base(double y, double) const { return y > 1 ? -log_gamma(y + 1) : 0; }

  class At {
   public:
    At(const NegativeBinomialColumn& column, double s)
        : a_(column.a_),
          b_(1 + column.a_ * s / column.mean_),
          s_(s),
          basis_(column.nodes_->basis(std::log(s))) {}

    double gain(const double* t, const double* more) const {
      return values(more) + log_beta_gain(big_a(t), big_b(t), std::max(more[1], 0.0), s_ * more[0]);
    }
    void weights(const double* t, double* w) const {
      const double a = big_a(t), b = big_b(t);
      w[0] = s_ * digamma_difference(b, a);
      w[1] = digamma_difference(a, b);
      std::copy(basis_.begin(), basis_.end(), w + 2);
    }
    void draw(const double* t, Stream& stream, double* w) const {
      const LogBeta p = draw_log_beta(big_a(t), big_b(t), stream);
      w[0] = s_ * p.log_rest;
      w[1] = p.log_x;
      std::copy(basis_.begin(), basis_.end(), w + 2);
    }
    std::array<double, 2> parameters(const double* t) const { return {big_a(t), big_b(t)}; }
    /// ⟨(1, y, f), w⟩ at the best p, for the averages t / N.
    double likelihood(const double* t) const {
      return values(t) - t[1] * std::log1p(s_ / t[1]) - s_ * std::log1p(t[1] / s_);
    }

   private:
    double values(const double* t) const {
      double sum = 0;
      for (std::size_t g = 0; g < basis_.size(); ++g) sum += basis_[g] * t[2 + g];
      return sum;
    }
    double big_a(const double* t) const { return a_ + std::max(t[1], 0.0); }
    double big_b(const double* t) const { return b_ + s_ * t[0]; }

    double a_, b_, s_;
    Vec basis_;
  };

  ShapeLattice posterior(const double* t) const {
    const Vec none(static_cast<std::size_t>(1 + sums()), 0.0);
    return size_.posterior([this, none, t = Vec(t, t + 1 + sums())](
                               double s) { return At(*this, s).gain(none.data(), t.data()); },
                           t[0], std::numeric_limits<double>::quiet_NaN());
  }

  // With one more row, of mean exposure and count. The size is kept between the nodes, since there is no best
  // size where rows vary less than Poisson counts.
  void best(const double* t, double* mean, double* w) const {
    Vec more(static_cast<std::size_t>(sums()));
    cell(mean_ * unit_, unit_, more.data());
    mean[0] = 1;
    for (Index v = 0; v < sums(); ++v) mean[1 + v] = (t[1 + v] + more[v]) / (t[0] + unit_);
    const auto height = [&](double log_s) { return At(*this, std::exp(log_s)).likelihood(mean); };
    double log_s = 0;
    if (size_.known > 0) {
      log_s = std::log(size_.known);
    } else {
      double top = -std::numeric_limits<double>::infinity();
      for (double at = nodes_->low(); at <= nodes_->high(); at += 1)
        if (const double here = height(at); here > top) {
          top = here;
          log_s = at;
        }
      log_s = maximise_near(height, log_s, nodes_->low(), nodes_->high(), 0.5, 0);
    }
    const double s = std::exp(log_s);
    w[0] = -s * std::log1p(mean[1] / s);
    w[1] = -std::log1p(s / mean[1]);
    const Vec basis = nodes_->basis(log_s);
    std::copy(basis.begin(), basis.end(), w + 2);
  }

  // E s, and E s p / (1 − p) = E s A / (B − 1), in which s cancels.
  std::array<double, 2> summary(const double* t, const ShapeLattice& q) const {
    double size = 0;
    for (std::size_t i = 0; i < q.shape().size(); ++i) size += q.prob()[i] * q.shape()[i];
    return {size, (a_ + std::max(t[1], 0.0)) / (a_ / mean_ + t[0])};
  }

 private:
  double a_, mean_, unit_;
  ShapePrior size_;
  std::shared_ptr<const SizeNodes> nodes_;
};

}  // namespace

std::unique_ptr<ObsModel> make_negative_binomial(const Fields& f) {
  const Vec a = of_columns(f, "a"), mean = f.numbers("mean", static_cast<Index>(a.size()));
  const std::vector<ShapePrior> size = shape_priors(f, "size", static_cast<Index>(a.size()));
  const double unit = f.has("mean_exposure") ? f.number("mean_exposure") : 1;
  std::vector<NegativeBinomialColumn> columns;
  for (std::size_t j = 0; j < a.size(); ++j) columns.emplace_back(a[j], mean[j], size[j], unit);
  return std::make_unique<ShapedColumns<NegativeBinomialColumn>>(std::move(columns), f.optional_flag("gaps"),
                                                                 f.flag("exposed"));
}

}  // namespace bnpvi
