// Models of columns whose distribution has a shape parameter in each cluster, which is integrated out.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "foundation/data.h"
#include "foundation/fields.h"
#include "foundation/memo.h"
#include "observations/capabilities.h"
#include "observations/shape_lattice.h"

namespace bnpvi {

/// A model of independent columns. In a cluster a column has a shape s, and parameters θ that are conjugate
/// given s. Column j of a cluster has a count N_j and sums S_j1 .. S_jm of functions of its cells. Let Λ_s(N,
/// S) be the log evidence of the column given s. Then its evidence is ∫ p(s) exp Λ_s ds, and its weights are
/// E ∇Λ_s under q(s) ∝ p(s) exp Λ_s.
///
/// The features are φ = (1, S_11 .. S_D1, S_12 .. S_Dm, [counts]). If cells may be missing, the counts are
/// N_j = Σ r δ_j, with responsibilities r, and δ_j = 1 for an observed cell; otherwise N = T_0. If rows have
/// an exposure e, the last column of the data, the counts are Σ r δ_j e and Σ r e.
///
/// The template argument Column, the model of one column, has these members; t = (N, S_1 .. S_m) is the
/// column's statistic:
///   has_base                  is h(x) not 1?
///   fixed_points              does q(s) have the same points for every statistic?
///   sums()                    m
///   wide_sums                 do sums of cells lose their digits when rows are subtracted?
///   mend(t)                   corrects t for rounding, which can violate what exact sums satisfy
///   cell(x, e, s)             writes to s the sums of one cell of value x and exposure e
///   log_base(x, e)            log h(x)
///   posterior(t)              q(s), with log_integral(), shape() and prob(), and draw(stream)
///   best(t, mean, w)          point estimate: the mean statistic per row, and the weights there
///   summary(t, q)             two posterior means to report, whose names are means()
///   At(column, s)             computations given a shape s:
///     gain(t, more)           Λ_s(t + more) − Λ_s(t)
///     weights(t, w)           ∇Λ_s, by N, S_1 .. S_m
///     draw(t, stream, w)      the weights of the likelihood at θ drawn from q(θ | s)
///     parameters(t)           two parameters of q(θ | s), whose names are parameters()
template <class Column>
class ShapedColumns final : public ObsModel, public BaseMeasure, public Gaps {
 public:
  ShapedColumns(std::vector<Column> columns, bool gaps, bool exposed = false)
      : columns_(std::move(columns)),
        d_(static_cast<Index>(columns_.size())),
        m_(columns_.front().sums()),
        gaps_(gaps),
        exposed_(exposed) {}

  Index n_features() const override { return 1 + m_ * d_ + (gaps_ ? d_ : exposed_ ? 1 : 0); }
  Index n_columns() const override { return d_ + (exposed_ ? 1 : 0); }
  Capabilities capabilities() const override {
    Capabilities out;
    out.wide_sums = Column::wide_sums;
    if (Column::has_base) out.base = this;
    if (gaps_) out.gaps = this;
    return out;
  }

  void log_base(const Dataset& data, const Index* rows, Index n, double* out) const override {
    for_cells(
        data, rows, n, [&](Index i) { out[i] = 0; },
        [&](Index i, Index j, double x, double e) { out[i] += columns_[j].log_base(x, e); });
  }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    Vec sums(static_cast<std::size_t>(m_));
    for_cells(
        data, rows, n,
        [&](Index i) {
          std::fill_n(phi + i * ld, n_features(), 0.0);
          phi[i * ld] = 1;
          if (exposed_ && !gaps_) phi[i * ld + 1 + m_ * d_] = data.dense[d_ * data.n + rows[i]];
        },
        [&](Index i, Index j, double x, double e) {
          columns_[j].cell(x, e, sums.data());
          for (Index v = 0; v < m_; ++v) phi[i * ld + 1 + v * d_ + j] = sums[v];
          if (gaps_) phi[i * ld + count_at(j)] = e;
        });
  }

  void from_complete(const ObsModel&, const double* complete_t, double* t) const override {
    std::copy_n(complete_t, 1 + m_ * d_, t);
    for (Index j = 0; j < d_; ++j) t[count_at(j)] = complete_t[exposed_ ? 1 + m_ * d_ : 0];
  }

  double log_evidence(const double* t) const override {
    double total = 0;
    for (Index j = 0; j < d_; ++j)
      if (const Vec own = statistic(t, j); says_something(own))
        total += columns_[j].posterior(own.data()).log_integral();
    return total;
  }

  void weights(const double* t, double* w) const override { evidence_and_weights(t, w); }

  double evidence_and_weights(const double* t, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    double total = 0;
    Vec given(static_cast<std::size_t>(1 + m_));
    for (Index j = 0; j < d_; ++j) {
      const Vec own = statistic(t, j);
      const auto q = columns_[j].posterior(own.data());
      if (says_something(own)) total += q.log_integral();
      for (std::size_t i = 0; i < q.shape().size(); ++i) {
        at(j, q.shape()[i]).weights(own.data(), given.data());
        add_weights(j, q.prob()[i], given, w);
      }
    }
    return total;
  }

  void point_estimate(const double* t, double* mean, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    Vec own_mean(static_cast<std::size_t>(1 + m_)), own_w(own_mean);
    for (Index j = 0; j < d_; ++j) {
      const Vec own = statistic(t, j);
      // The average count per row: the fraction of rows whose cell is observed, times the average count of
      // these rows.
      const double share = t[0] > 0 ? own[0] / t[0] : 1;
      columns_[j].best(own.data(), own_mean.data(), own_w.data());
      mean[count_at(j)] = share;
      for (Index v = 0; v < m_; ++v) mean[1 + v * d_ + j] = share * own_mean[1 + v];
      add_weights(j, 1, own_w, w);
    }
    mean[0] = 1;
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    Vec given(static_cast<std::size_t>(1 + m_));
    for (Index j = 0; j < d_; ++j) {
      const Vec own = statistic(t, j);
      const double s = columns_[j].posterior(own.data()).draw(stream);
      at(j, s).draw(own.data(), stream, given.data());
      add_weights(j, 1, given, w);
    }
  }

  // Log predictive density, an average over the points of q(s), the posterior of the shape. The posterior
  // that includes the new row may need other points, if the cluster has few rows or the new one is far from
  // all of them; then that posterior is computed instead.
  //
  // Samplers ask for one row at a time, and most of their clusters are as they were, and so is the empty one:
  // what was integrated for a statistic is remembered.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    static thread_local Memo<Known> clusters(512);
    static thread_local Memo<double> evidences(8192);
    std::fill_n(out, n, 0.0);
    Vec term, both(static_cast<std::size_t>(1 + m_));
    Known now;
    for (Index j = 0; j < d_; ++j) {
      const Vec own = statistic(t, j);
      const auto known_now = [&] { return known(j, own); };
      if (n > 1) now = known_now();
      const Known& q = n > 1 ? now : clusters(arguments(j, own), known_now);
      term.resize(q.given.size());
      for (Index i = 0; i < n; ++i) {
        const Vec more = of_row(phi + i * ld, j);
        if (!says_something(more)) continue;
        for (std::size_t g = 0; g < term.size(); ++g)
          term[g] = q.log_prob[g] + q.given[g].gain(own.data(), more.data());
        const auto top = std::max_element(term.begin(), term.end());
        const bool inside = !term.empty() && top != term.begin() && top != term.end() - 1;
        if (Column::fixed_points || term.size() == 1 || inside) {
          double sum = 0;
          for (double v : term) sum += std::exp(v - *top);
          out[i] += *top + std::log(sum);
        } else {
          for (Index v = 0; v <= m_; ++v) both[v] = own[v] + more[v];
          const auto evidence = [&] { return columns_[j].posterior(both.data()).log_integral(); };
          out[i] += (n > 1 ? evidence() : evidences(arguments(j, both), evidence)) - q.log_evidence;
        }
      }
    }
  }

  // Reports for each column the points of q(s), the posterior of the shape, and the parameters given each. A
  // column with fewer points than another repeats its last one, with probability 0.
  NamedArrays posterior(const double* t, Index k) const override {
    struct Shown {
      Vec shape, prob, first, second;
    };
    std::vector<Shown> shown;
    std::size_t most = 0;
    for (Index j = 0; j < d_; ++j)
      for (Index i = 0; i < k; ++i) {
        const Vec own = statistic(t + i * n_features(), j);
        const auto q = columns_[j].posterior(own.data());
        Shown one{q.shape(), q.prob(), {}, {}};
        for (double s : q.shape()) {
          const std::array<double, 2> p = at(j, s).parameters(own.data());
          one.first.push_back(p[0]);
          one.second.push_back(p[1]);
        }
        most = std::max(most, one.shape.size());
        shown.push_back(std::move(one));
      }
    const auto nodes = static_cast<Index>(most);
    const auto array = [&](const std::string& name, Vec Shown::*what) {
      NamedArray out{name, {}, {k, d_, nodes}};
      for (std::size_t g = 0; g < most; ++g)
        for (const Shown& one : shown) out.value.push_back((one.*what)[std::min(g, one.shape.size() - 1)]);
      return out;
    };
    NamedArray prob = array("shape_prob", &Shown::prob);
    for (std::size_t g = 0; g < most; ++g)
      for (std::size_t i = 0; i < shown.size(); ++i)
        if (g >= shown[i].shape.size()) prob.value[g * shown.size() + i] = 0;
    return {array("shape_node", &Shown::shape), prob, array(Column::parameters()[0], &Shown::first),
            array(Column::parameters()[1], &Shown::second)};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    NamedArray first{Column::means()[0], {}, {k, d_}}, second{Column::means()[1], {}, {k, d_}};
    for (Index j = 0; j < d_; ++j)
      for (Index i = 0; i < k; ++i) {
        const Vec own = statistic(t + i * n_features(), j);
        const std::array<double, 2> mean = columns_[j].summary(own.data(), columns_[j].posterior(own.data()));
        first.value.push_back(mean[0]);
        second.value.push_back(mean[1]);
      }
    return {first, second};
  }

 private:
  /// What log_predictive() needs of a column of a cluster: its log evidence, and q(s) with what follows from
  /// s; without these where a new row may need other points.
  struct Known {
    double log_evidence = 0;
    std::vector<typename Column::At> given;
    Vec log_prob;
  };

  typename Column::At at(Index j, double s) const { return typename Column::At(columns_[j], s); }

  Known known(Index j, const Vec& own) const {
    constexpr double few = 10;
    const auto q = columns_[j].posterior(own.data());
    Known out;
    if (says_something(own)) out.log_evidence = q.log_integral();
    for (std::size_t g = 0; g < q.shape().size() && (Column::fixed_points || own[0] >= few); ++g) {
      out.given.push_back(at(j, q.shape()[g]));
      out.log_prob.push_back(std::log(q.prob()[g]));
    }
    return out;
  }

  /// All that integrals for column j of a cluster with the statistic `own` depend on.
  Vec arguments(Index j, const Vec& own) const {
    Vec out{identity_, static_cast<double>(j), FewPoints::now() ? 1.0 : 0.0};
    out.insert(out.end(), own.begin(), own.end());
    return out;
  }

  /// A number that no other model of this process has, not even one that is made later in the same place.
  static double next_identity() {
    static std::atomic<std::uint64_t> last{0};
    return static_cast<double>(++last);
  }

  // Position of the count of column j among the features.
  Index count_at(Index j) const { return gaps_ ? 1 + m_ * d_ + j : exposed_ ? 1 + m_ * d_ : 0; }

  // The statistic (N_j, S_j1 .. S_jm) of column j of a cluster, corrected by mend(): rounding in sums and
  // differences of summaries can give impossible values.
  Vec statistic(const double* t, Index j) const {
    Vec out = of_row(t, j);
    columns_[j].mend(out.data());
    return out;
  }
  Vec of_row(const double* t, Index j) const {
    Vec out(static_cast<std::size_t>(1 + m_));
    out[0] = std::max(t[count_at(j)], 0.0);
    for (Index v = 0; v < m_; ++v) out[1 + v] = t[1 + v * d_ + j];
    return out;
  }
  // Whether a column's statistic contains any data. Without data its log evidence is exactly 0, where the
  // integral would give 0 only up to rounding.
  static bool says_something(const Vec& own) {
    return std::any_of(own.begin(), own.end(), [](double v) { return v != 0; });
  }

  void add_weights(Index j, double times, const Vec& own, double* w) const {
    w[count_at(j)] += times * own[0];
    for (Index v = 0; v < m_; ++v) w[1 + v * d_ + j] += times * own[1 + v];
  }

  // Calls row(i) for each of n rows, and cell(i, j, x, e) for each cell that is not missing: row i, column j,
  // value x, exposure e.
  template <class Row, class Cell>
  void for_cells(const Dataset& data, const Index* rows, Index n, Row row, Cell cell) const {
    if (data.sparse()) throw std::invalid_argument("this observation model needs dense data");
    for (Index i = 0; i < n; ++i) {
      row(i);
      const double e = exposed_ ? data.dense[d_ * data.n + rows[i]] : 1;
      for (Index j = 0; j < d_; ++j)
        if (const double x = data.dense[j * data.n + rows[i]]; !std::isnan(x)) cell(i, j, x, e);
    }
  }

  std::vector<Column> columns_;
  double identity_ = next_identity();
  Index d_, m_;
  bool gaps_, exposed_;
};

/// Reads the priors of the shapes of d columns from the field `name`: shape and rate of a Gamma prior for all
/// columns or, with a field `known`, the known shape of each column.
inline std::vector<ShapePrior> shape_priors(const Fields& fields, const char* name, Index d) {
  std::vector<ShapePrior> out(static_cast<std::size_t>(d));
  const bool known = fields.optional_flag("known");
  const Vec value = fields.numbers(name, known ? d : 2);
  for (std::size_t j = 0; j < out.size(); ++j)
    if (known)
      out[j].known = value[j];
    else
      out[j].prior = {value[0], value[1]};
  return out;
}

}  // namespace bnpvi
