#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "kernels/kernels.h"
#include "observations/level_prior.h"
#include "observations/linear_predictive.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

/// Columns of levels, coded 1 .. levels_j; any other number is a cell of no level, which says nothing.
/// Independent probabilities ~ Dirichlet(λ_j); weight: λ of all levels of the first column, then the second,
/// ...
/// When `share` (the proportion of each level in its column) is not empty, the weights of column j are
/// learned as even_j + common_j share, as a LevelPrior's.
struct CategoricalPrior {
  std::vector<Index> levels;
  Vec weight;
  Vec share;
  Vec even, common;
};

// φ = (1, one-hot of each column), all levels, none for a cell of no level; Dirichlet(λ_j) for each column j.
// A column's segment of T sums to N_j, the count of its cells that have a level, so that T_0 is not needed.
class Categorical final : public LinearPredictive<ObsModel>, public SparseEntries, public LearnedPrior {
 public:
  explicit Categorical(CategoricalPrior prior) : prior_(std::move(prior)) {
    Index at = 0;
    for (Index n : prior_.levels) {
      double total = 0;
      for (Index l = 0; l < n; ++l) total += prior_.weight[at + l];
      columns_.push_back({at, n, total});
      at += n;
    }
    levels_ = at;
  }

  Index n_features() const override { return 1 + levels_; }
  Index n_columns() const override { return static_cast<Index>(columns_.size()); }
  Index n_dense() const override { return 1; }

  Capabilities capabilities() const override {
    Capabilities out = LinearPredictive::capabilities();
    out.entries = this;
    if (!prior_.share.empty()) out.prior = this;
    return out;
  }

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps, Pool* pool) const override {
    if (occupied_clusters(t, k, n_features()) < 2) return nullptr;
    CategoricalPrior next = prior_;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const Column& c = columns_[j];
      Vec own;  // (T_0, segment) of each cluster
      for (Index i = 0; i < k; ++i) {
        const double* segment = t + i * n_features() + 1 + c.at;
        own.push_back(t[i * n_features()]);
        own.insert(own.end(), segment, segment + c.levels);
      }
      const auto part = [&c](const Vec& x) { return Vec(x.begin() + c.at, x.begin() + c.at + c.levels); };
      const LevelPrior best = learn_level_prior(
          {part(prior_.weight), part(prior_.share), prior_.even[j], prior_.common[j]}, own.data(), k, pool);
      std::copy(best.weight.begin(), best.weight.end(), next.weight.begin() + c.at);
      next.even[j] = best.even;
      next.common[j] = best.common;
    }
    return std::make_shared<Categorical>(std::move(next));
  }

  NamedArrays learned_fields() const override {
    return {{"concentration", prior_.weight, {}},
            {"prior_even", prior_.even, {}},
            {"prior_common", prior_.common, {}}};
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
      for (Index v = c.at; v < c.at + c.levels; ++v)
        sum -= log_gamma_difference(prior_.weight[v], count(t, v));
    }
    return sum;
  }

  void weights(const double* t, double* w) const override {
    w[0] = 0;
    for (const Column& c : columns_)
      kernels().digamma_of_counts(c.levels, prior_.weight.data() + c.at, t + 1 + c.at,
                                  digamma(c.prior + cells(t, c)), w + 1 + c.at);
  }

  // E[p] under the posterior, times the share of rows whose cell has a level.
  void point_estimate(const double* t, double* mean, double* w) const override {
    mean[0] = 1;
    for (const Column& c : columns_) {
      const double n = cells(t, c), share = t[0] > 0 ? n / t[0] : 1;
      for (Index v = c.at; v < c.at + c.levels; ++v)
        mean[1 + v] = share * ((prior_.weight[v] + count(t, v)) / (c.prior + n));
    }
    predictive_weights(t, w);
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    w[0] = 0;
    for (const Column& c : columns_) {
      Vec weight;
      for (Index v = c.at; v < c.at + c.levels; ++v) weight.push_back(prior_.weight[v] + count(t, v));
      const Vec log_prob = draw_log_dirichlet(weight, stream);
      std::copy(log_prob.begin(), log_prob.end(), w + 1 + c.at);
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    return {dirichlet_array(prior_.weight, t, k)};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    NamedArray out = dirichlet_array(prior_.weight, t, k);
    out.name = "prob";
    for (const Column& c : columns_)
      for (Index i = 0; i < k; ++i) {
        const double total = c.prior + cells(t + i * n_features(), c);
        for (Index v = c.at; v < c.at + c.levels; ++v) out.value[i + k * v] /= total;
      }
    return {out};
  }

 protected:
  // Those of E[p].
  void predictive_weights(const double* t, double* w) const override {
    w[0] = 0;
    for (const Column& c : columns_) {
      const double n = cells(t, c);
      for (Index v = c.at; v < c.at + c.levels; ++v)
        w[1 + v] = std::log((prior_.weight[v] + count(t, v)) / (c.prior + n));
    }
  }

 private:
  struct Column {
    Index at, levels;  // its segment, of all levels
    double prior;      // Σ λ_j
  };

  // S ≥ 0 in exact arithmetic; rounded sums and differences of summaries may be below.
  static double count(const double* t, Index v) { return std::max(t[1 + v], 0.0); }
  static double cells(const double* t, const Column& c) {
    return kernels().positive_sum(c.levels, t + 1 + c.at);
  }

  CategoricalPrior prior_;
  std::vector<Column> columns_;
  Index levels_ = 0;
};

}  // namespace

std::unique_ptr<ObsModel> make_categorical(const Fields& f) {
  CategoricalPrior prior{{}, f.numbers("concentration"), {}, {}, {}};
  Index total = 0;
  for (double levels : f.numbers("n_levels")) {
    prior.levels.push_back(static_cast<Index>(levels));
    total += prior.levels.back();
  }
  if (total != static_cast<Index>(prior.weight.size()))
    throw std::invalid_argument("internal error: field concentration has not a number for each level");
  if (f.has("level_share")) {
    prior.share = f.numbers("level_share", total);
    prior.even = f.numbers("prior_even", static_cast<Index>(prior.levels.size()));
    prior.common = f.numbers("prior_common", static_cast<Index>(prior.levels.size()));
  }
  return std::make_unique<Categorical>(std::move(prior));
}

}  // namespace bnpvi
