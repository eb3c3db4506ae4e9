#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "kernels/kernels.h"
#include "observations/dirichlet_array.h"
#include "observations/hierarchical_dirichlet.h"
#include "observations/linear_predictive.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

// One strength of the prior for all columns; it is the total that each column divides among its levels.
HierarchicalDirichlet hierarchy_of(const std::vector<Index>& levels) {
  return HierarchicalDirichlet(levels, {-3, 7});
}

// Columns of levels, coded 1 .. levels_j; any other number means that the cell has no level, and does not
// contribute. φ = (1, one-hot of each column), with zeros for a cell without a level. The prior is
// Dirichlet(λ_j) for each column j, given or hierarchical. The segment of T for a column sums to N_j, the
// number of its cells with a level, so that T_0 is not needed. If the prior is hierarchical, Λ and its
// gradient use λ, while predictions and draws use the mean weights, which sum to the total weight in Λ
// (hierarchical_dirichlet.h).
class Categorical final : public LinearPredictive<ObsModel>, public SparseEntries, public LearnedPrior {
 public:
  // weight: for all levels of the first column, then the second, ...
  Categorical(std::vector<Index> levels, Vec weight)
      : n_levels_(std::move(levels)), weight_(std::move(weight)), mean_weight_(weight_) {
    for (Index n : n_levels_) {
      double total = 0;
      for (Index l = 0; l < n; ++l) total += weight_[levels_ + l];
      columns_.push_back({levels_, n, total});
      levels_ += n;
    }
  }
  Categorical(std::vector<Index> levels, SharePosterior q)
      : Categorical(levels, hierarchy_of(levels).mean_weights(q)) {
    const HierarchicalDirichlet hierarchy = hierarchy_of(n_levels_);
    weight_ = hierarchy.weights(q);
    for (std::size_t j = 0; j < columns_.size(); ++j)
      columns_[j].prior = hierarchy.total(q, static_cast<Index>(j));
    log_density_ = hierarchy.log_density(q);
    posterior_ = std::move(q);
    learned_ = true;
  }

  Index n_features() const override { return 1 + levels_; }
  Index n_columns() const override { return static_cast<Index>(columns_.size()); }
  Index n_dense() const override { return 1; }

  Capabilities capabilities() const override {
    Capabilities out = LinearPredictive::capabilities();
    out.entries = this;
    if (learned_) out.prior = this;
    return out;
  }

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override {
    const HierarchicalDirichlet::Counts counts{t + 1, k, n_features(), pool, {}};
    return std::make_shared<Categorical>(n_levels_,
                                         hierarchy_of(n_levels_).improved(posterior_, steps, counts));
  }
  double log_hyperprior() const override { return log_density_; }
  NamedArrays learned_fields() const override {
    return {{"concentration", mean_weight_, {}},
            {"prior_strength", {posterior_.common}, {}},
            {"hyper_share", posterior_.omega, {}}};
  }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    Entries hot;
    entries(data, rows, n, hot);
    for (Index i = 0; i < n; ++i) {
      double* out = phi + i * ld;
      out[0] = 1;
      std::fill(out + 1, out + 1 + levels_, 0.0);
      for (int e = hot.start[i]; e < hot.start[i + 1]; ++e) out[1 + hot.at[e]] = 1;
    }
  }

  void dense_features(const Dataset&, const Index*, Index n, double* phi, Index ld) const override {
    for (Index i = 0; i < n; ++i) phi[i * ld] = 1;
  }

  void entries(const Dataset& data, const Index* rows, Index n, Entries& out) const override {
    if (data.sparse()) throw std::invalid_argument("this observation model needs dense data");
    out.start.assign(1, 0);
    out.at.clear();
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n_columns(); ++j) {
        const Index level = static_cast<Index>(data.dense[j * data.n + rows[i]]);
        if (level > 0 && level <= columns_[j].levels)
          out.at.push_back(static_cast<int>(columns_[j].at + level - 1));
      }
      out.start.push_back(static_cast<int>(out.at.size()));
    }
  }

  double log_evidence(const double* t) const override {
    double sum = 0;
    for (const Column& c : columns_) {
      sum += log_gamma_difference(c.prior, cells(t, c));
      for (Index v = c.at; v < c.at + c.levels; ++v) sum -= log_gamma_difference(weight_[v], count(t, v));
    }
    return sum;
  }

  void weights(const double* t, double* w) const override {
    w[0] = 0;
    for (const Column& c : columns_)
      kernels().digamma_of_counts(c.levels, weight_.data() + c.at, t + 1 + c.at,
                                  digamma(c.prior + cells(t, c)), w + 1 + c.at);
  }

  // E[p] under the posterior, times the fraction of rows whose cell has a level.
  void point_estimate(const double* t, double* mean, double* w) const override {
    mean[0] = 1;
    for (const Column& c : columns_) {
      const double n = cells(t, c), share = t[0] > 0 ? n / t[0] : 1;
      for (Index v = c.at; v < c.at + c.levels; ++v)
        mean[1 + v] = share * ((mean_weight_[v] + count(t, v)) / (c.prior + n));
    }
    predictive_weights(t, w);
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    w[0] = 0;
    for (const Column& c : columns_) {
      Vec weight;
      for (Index v = c.at; v < c.at + c.levels; ++v) weight.push_back(mean_weight_[v] + count(t, v));
      const Vec log_prob = draw_log_dirichlet(weight, stream);
      std::copy(log_prob.begin(), log_prob.end(), w + 1 + c.at);
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    return {dirichlet_array(mean_weight_, t, k)};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    NamedArray out = dirichlet_array(mean_weight_, t, k);
    out.name = "prob";
    for (const Column& c : columns_)
      for (Index i = 0; i < k; ++i) {
        const double total = c.prior + cells(t + i * n_features(), c);
        for (Index v = c.at; v < c.at + c.levels; ++v) out.value[i + k * v] /= total;
      }
    return {out};
  }

 protected:
  // The log probabilities at E[p].
  void predictive_weights(const double* t, double* w) const override {
    w[0] = 0;
    for (const Column& c : columns_) {
      const double n = cells(t, c);
      for (Index v = c.at; v < c.at + c.levels; ++v)
        w[1 + v] = std::log((mean_weight_[v] + count(t, v)) / (c.prior + n));
    }
  }

 private:
  struct Column {
    Index at, levels;  // its segment among all levels
    double prior;      // Σ λ_j
  };

  // S ≥ 0 in exact arithmetic, but rounding in sums and differences of summaries can make it negative.
  static double count(const double* t, Index v) { return std::max(t[1 + v], 0.0); }
  static double cells(const double* t, const Column& c) {
    return kernels().positive_sum(c.levels, t + 1 + c.at);
  }

  std::vector<Index> n_levels_;
  Vec weight_, mean_weight_;  // λ, and the weights for predictions
  std::vector<Column> columns_;
  Index levels_ = 0;          // number of levels of all columns
  SharePosterior posterior_;  // used if the prior is learned
  bool learned_ = false;
  double log_density_ = 0;
};

}  // namespace

std::unique_ptr<ObsModel> make_categorical(const Fields& f) {
  Vec weight = f.numbers("concentration");
  std::vector<Index> n_levels;
  Index total = 0;
  for (double levels : f.numbers("n_levels")) {
    n_levels.push_back(static_cast<Index>(levels));
    total += n_levels.back();
  }
  if (total != static_cast<Index>(weight.size()))
    throw std::invalid_argument("internal error: field concentration has not a number for each level");
  if (!f.has("hyper_share")) return std::make_unique<Categorical>(std::move(n_levels), std::move(weight));
  return std::make_unique<Categorical>(
      std::move(n_levels),
      checked(SharePosterior{0, f.number("prior_strength"), f.numbers("hyper_share", total)}));
}

}  // namespace bnpvi
