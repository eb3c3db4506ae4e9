#include "topics/anchors/far_apart.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/kernels.h"

namespace bnpvi::topics {

namespace {

constexpr Index rows_at_once = 64;  // rows a task: a guess

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

class FarApart {
 public:
  FarApart(Vec a, Vec b, Index m, Pool& pool)
      : half_{{std::move(a), {}, {}}, {std::move(b), {}, {}}},
        m_(m),
        n_(static_cast<Index>(half_[0].rows.size()) / m),
        pool_(pool),
        ab_(size_of(n_)),
        squares_(size_of(n_)) {}

  std::vector<Index> choose(Index k, bool clear, Index given) {
    std::vector<Index> chosen;
    while (static_cast<Index>(chosen.size()) < k) {
      pool_.poll();
      if (chosen.size() < 2)
        measure(chosen.empty() ? -1 : chosen.back());
      else
        take_out(chosen.back());
      if (static_cast<Index>(chosen.size()) < given) {
        chosen.push_back(static_cast<Index>(chosen.size()));
        continue;
      }
      for (Index i : chosen) ab_[i] = -INFINITY;
      Index next = -1;
      for (Index i = 0; i < n_; ++i)
        if (ab_[i] > (squares_[i] - 2 * ab_[i]) / 4 && (next < 0 || ab_[i] > ab_[next])) next = i;
      if (next < 0 && !clear) next = std::max_element(ab_.begin(), ab_.end()) - ab_.begin();
      if (next < 0 || ab_[next] <= 0) break;
      chosen.push_back(next);
    }
    return chosen;
  }

 private:
  struct Half {
    Vec rows;        // n × m, from the origin
    Vec directions;  // orthonormal, · × m
    Vec along;       // · × n: components of the rows along their own directions
  };

  template <class F>
  void for_rows(F f) {
    pool_.run((n_ + rows_at_once - 1) / rows_at_once, [&](Index task) {
      const Index from = task * rows_at_once;
      f(from, std::min(rows_at_once, n_ - from));
    });
  }

  // Moves the origin to row `origin`, if it is one, and computes the residuals' lengths.
  void measure(Index origin) {
    const Vec zero(size_of(m_), 0.0);
    Vec at[2];
    for (int h = 0; h < 2; ++h) {
      const double* row = half_[h].rows.data() + std::max<Index>(origin, 0) * m_;
      at[h] = origin < 0 ? zero : Vec(row, row + m_);
    }
    for_rows([&](Index from, Index size) {
      for (Index i = from; i < from + size; ++i) {
        double* a = half_[0].rows.data() + i * m_;
        double* b = half_[1].rows.data() + i * m_;
        ab_[i] = squares_[i] = 0;
        for (Index j = 0; j < m_; ++j) {
          a[j] -= at[0][j];
          b[j] -= at[1][j];
          ab_[i] += a[j] * b[j];
          squares_[i] += a[j] * a[j] + b[j] * b[j];
        }
      }
    });
  }

  void add_direction(Half& half, Index row) const {
    Vec x(half.rows.begin() + row * m_, half.rows.begin() + (row + 1) * m_);
    for (std::size_t from = 0; from < half.directions.size(); from += x.size()) {
      const double* direction = half.directions.data() + from;
      const double along = std::inner_product(x.begin(), x.end(), direction, 0.0);
      for (std::size_t j = 0; j < x.size(); ++j) x[j] -= along * direction[j];
    }
    const double norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    for (double& y : x) half.directions.push_back(norm > 0 ? y / norm : 0);
  }

  // With directions u of a and v of b, x = ⟨a, u⟩, y = ⟨b, v⟩ and G = ⟨u, v⟩, the residuals have ⟨a, b⟩ − Σ x
  // ⟨b, u⟩ − Σ y ⟨a, v⟩ + xᵀ G y, |a|² − Σ x² and |b|² − Σ y².
  void take_out(Index row) {
    const Index before = static_cast<Index>(half_[0].directions.size()) / m_;
    for (Half& half : half_) {
      add_direction(half, row);
      half.along.resize(half.along.size() + size_of(n_));
    }
    const double* u = half_[0].directions.data();
    const double* v = half_[1].directions.data();
    Vec latest(u + before * m_, u + (before + 1) * m_), u_v(size_of(before + 1)), v_u(u_v.size());
    latest.insert(latest.end(), v + before * m_, v + (before + 1) * m_);
    for (Index j = 0; j <= before; ++j) {
      u_v[j] = std::inner_product(u + before * m_, u + (before + 1) * m_, v + j * m_, 0.0);
      v_u[j] = std::inner_product(v + before * m_, v + (before + 1) * m_, u + j * m_, 0.0);
    }
    for_rows([&](Index from, Index size) {
      double on_a[2 * rows_at_once], on_b[2 * rows_at_once];
      kernels().product_nt(2, size, m_, latest.data(), m_, half_[0].rows.data() + from * m_, m_, on_a, size);
      kernels().product_nt(2, size, m_, latest.data(), m_, half_[1].rows.data() + from * m_, m_, on_b, size);
      double* x = half_[0].along.data() + from;
      double* y = half_[1].along.data() + from;
      for (Index i = 0; i < size; ++i) {
        const double x_new = x[before * n_ + i] = on_a[i], y_new = y[before * n_ + i] = on_b[size + i];
        double both = -x_new * on_b[i] - y_new * on_a[size + i];
        for (Index j = 0; j <= before; ++j) both += x_new * u_v[j] * y[j * n_ + i];
        for (Index j = 0; j < before; ++j) both += y_new * v_u[j] * x[j * n_ + i];
        ab_[from + i] += both;
        squares_[from + i] -= x_new * x_new + y_new * y_new;
      }
    });
  }

  Half half_[2];
  Index m_, n_;
  Pool& pool_;
  Vec ab_, squares_;  // for the residuals: ⟨a, b⟩ and |a|² + |b|²
};

}  // namespace

std::vector<Index> far_apart(Vec a, Vec b, Index m, Index k, bool clear, Pool& pool, Index given) {
  return FarApart(std::move(a), std::move(b), m, pool).choose(k, clear, given);
}

}  // namespace bnpvi::topics
