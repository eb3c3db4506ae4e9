#include "observations/tangent_visit.h"

#include <algorithm>
#include <utility>

#include "kernels/kernels.h"

namespace bnpvi {

namespace {

constexpr Index most = 1L << 16;  // rows times clusters and sizes that are kept: some megabytes, a guess

void at_least(Buffer& v, Index n) {
  if (static_cast<Index>(v.size()) < n) v.resize(static_cast<std::size_t>(n));
}

}  // namespace

TangentVisit::TangentVisit(const TangentRows& rows, Index rows_of_unit)
    : rows_(rows), weights_(rows.layout), rows_of_unit_(rows_of_unit), room_(std::move(spare())) {
  if (!room_) room_ = std::make_unique<Room>();
}

TangentVisit::~TangentVisit() { spare() = std::move(room_); }

std::unique_ptr<TangentVisit::Room>& TangentVisit::spare() {
  static thread_local std::unique_ptr<Room> kept;
  return kept;
}

Index TangentVisit::rows_from(Index from) const { return std::min(step, n_ - from); }

Index TangentVisit::place(Index from) const { return keeps_ ? from / step : 0; }

void TangentVisit::visit(Index n, const double* phi, Index k, const double* reduced) {
  const Index sizes = rows_.layout.sizes();
  phi_ = phi;
  n_ = n * rows_of_unit_;
  k_ = k;
  keeps_ = n_ * k * sizes <= most;
  curved_ = reduced[weights_.curved] != 0;
  reduced_.assign(reduced, reduced + k * weights_.all);
  const auto places = static_cast<std::size_t>(keeps_ ? (n_ + step - 1) / step : 1);
  if (room_->columns.size() < places) {
    room_->columns.resize(places);
    room_->squares.resize(places);
  }
  if (room_->piece.size() < places * sizes) room_->piece.resize(places * sizes);
}

// Clusters in the order in which they were visited, some of them perhaps left out; w_0 does not matter.
bool TangentVisit::knows(Index n, const double* phi, Index k, const double* reduced) {
  if (!keeps_ || phi_ != phi || n_ != n * rows_of_unit_) return false;
  column_.clear();
  Index at = 0;
  for (Index j = 0; j < k; ++j, ++at) {
    const double* own = reduced + j * weights_.all;
    while (at < k_ && !std::equal(own + 1, own + weights_.all, reduced_.data() + at * weights_.all + 1)) ++at;
    if (at == k_) return false;
    column_.push_back(at);
  }
  return true;
}

void TangentVisit::find_columns(Index from) {
  const Index n = rows_from(from), width = rows_.layout.squares();
  Buffer &columns = room_->columns[place(from)], &squares = room_->squares[place(from)];
  at_least(columns, step * rows_.width);
  kernels().transpose_rows(n, rows_.width, row(from), rows_.width, columns.data(), step);
  if (few()) return;
  at_least(squares, step * width);
  kernels().packed_outer(n, rows_.layout.regressors(), row(from) + rows_.regressors, rows_.width,
                         squares.data(), width);
}

void TangentVisit::find_bounds(Index from, Index g) {
  const Index n = rows_from(from), e = rows_.layout.regressors(), width = rows_.layout.squares();
  const double* own = reduced_.data() + weights_.of(g);
  Piece& p = piece(from, g);
  for (Buffer* v : {&p.m, &p.kappa, &p.constant, &p.offset}) at_least(*v, step);
  for (Buffer* v : {&p.bound, &p.omega}) at_least(*v, step * k_);
  const double shift = rows_.layout.shift(g);
  const double *y = column(from, 1), *trials = column(from, 2), *offset = column(from, 3),
               *constant = column(from, 4 + g), *x = column(from, rows_.regressors);
  for (Index i = 0; i < n; ++i) {
    const LogisticTerm term = rows_.term(y[i], trials[i], offset[i] + shift, constant[i], g);
    p.m[i] = term.m;
    p.kappa[i] = term.kappa;
    p.constant[i] = term.constant;
    p.offset[i] = term.offset;
  }
  if (few()) {
    for (Index at = 0; at < k_ * step; at += step, own += weights_.all)
      tangent_kernels().bounds_of_few[e - 1](n, p.m.data(), p.kappa.data(), p.constant.data(),
                                             p.offset.data(), x, step, own + weights_.mean,
                                             own + weights_.second, p.bound.data() + at, p.omega.data() + at);
    return;
  }
  for (Buffer* v : {&room_->linear, &room_->square}) at_least(*v, step * k_);
  if (curved_) at_least(p.curve, step * k_);
  kernels().product_nt(k_, n, e, own + weights_.mean, weights_.all, row(from) + rows_.regressors, rows_.width,
                       room_->linear.data(), step);
  kernels().product_nt(k_, n, width, own + weights_.second, weights_.all, room_->squares[place(from)].data(),
                       width, room_->square.data(), step);
  for (Index at = 0; at < k_ * step; at += step)
    tangent_kernels().bounds(n, p.m.data(), p.kappa.data(), p.constant.data(), p.offset.data(),
                             room_->linear.data() + at, room_->square.data() + at, p.bound.data() + at,
                             p.omega.data() + at, curved_ ? p.curve.data() + at : nullptr);
}

void TangentVisit::log_likelihoods(Index n, const double* phi, Index k, const double* reduced, double* out) {
  const Index sizes = rows_.layout.sizes();
  const bool at_once = rows_of_unit_ == 1 && sizes == 1;
  visit(n, phi, k, reduced);
  at_least(room_->turned, step * k);
  Vec share(static_cast<std::size_t>(k)), base(share), none(share);
  for (Index j = 0; j < k; ++j) base[j] = reduced[j * weights_.all];
  for (Index i = 0; i < n && !at_once; ++i) std::copy(base.begin(), base.end(), out + i * k);
  for (Index from = 0; from < n_; from += step) {
    const Index rows = rows_from(from);
    find_columns(from);
    for (Index g = 0; g < sizes; ++g) {
      find_bounds(from, g);
      for (Index j = 0; j < k; ++j) share[j] = reduced[j * weights_.all + weights_.of(g)];
      tangent_kernels().add_transposed(k, rows, piece(from, g).bound.data(), step,
                                       at_once ? base.data() : none.data(), share.data(),
                                       at_once ? out + from * k : room_->turned.data());
      for (Index i = 0; i < rows && !at_once; ++i)
        for (Index j = 0; j < k; ++j) out[(from + i) / rows_of_unit_ * k + j] += room_->turned[i * k + j];
    }
  }
}

void TangentVisit::add(Index n, const double* phi, Index k, const double* r, const double* reduced,
                       double* const* t) {
  const bool known = knows(n, phi, k, reduced);
  if (!known) {
    visit(n, phi, k, reduced);
    column_.clear();
    for (Index j = 0; j < k; ++j) column_.push_back(j);
  }
  for (Index from = 0; from < n_; from += step) {
    if (!known) find_columns(from);
    take_masses(r, from, k);
    for (Index g = 0; g < rows_.layout.sizes(); ++g) {
      if (!known) find_bounds(from, g);
      add_piece(from, g, k, t);
    }
  }
}

void TangentVisit::take_masses(const double* r, Index from, Index k) {
  const Index n = rows_from(from);
  at_least(room_->r, step * k);
  if (rows_of_unit_ == 1) return kernels().transpose_rows(n, k, r + from * k, k, room_->r.data(), step);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < k; ++j) room_->r[j * step + i] = r[(from + i) / rows_of_unit_ * k + j];
}

// For each cluster Σ r over the rows, Σ r bound, Σ r (κ − ω o) x, Σ r ω xx' and, if it is summed, Σ r curve
// xx'. Where the tangents touch, Σ r bound is the sum over features times weights, so that the sum without b
// follows from the others.
void TangentVisit::add_piece(Index from, Index g, Index k, double* const* t) {
  const TangentLayout& at = rows_.layout;
  const Index n = rows_from(from), e = at.regressors(), width = at.squares(), all = 2 + e + 2 * width;
  const Piece& p = piece(from, g);
  at_least(room_->sum, k * all);
  std::fill_n(room_->sum.begin(), k * all, 0.0);
  if (few()) {
    const double* x = column(from, rows_.regressors);
    for (Index j = 0; j < k; ++j) {
      const Index own = column_[j] * step;
      tangent_kernels().sums_of_few[e - 1](n, p.kappa.data(), p.offset.data(), p.bound.data() + own,
                                           p.omega.data() + own, room_->r.data() + j * step, x, step,
                                           room_->sum.data() + j * all);
    }
  } else {
    find_sums(from, g, k);
  }
  const double* sum = room_->sum.data();
  for (Index j = 0; j < k; ++j, sum += all) {
    const double *linear = sum + 2, *quadratic = linear + e, *curvature = quadratic + width;
    const double* own = reduced_.data() + column_[j] * weights_.all + weights_.of(g);
    if (g == 0) t[j][0] += sum[0] / static_cast<double>(rows_of_unit_);
    double without_b = sum[1];
    for (Index v = 0; v < e; ++v) {
      t[j][at.linear(g) + v] += linear[v];
      without_b -= linear[v] * own[weights_.mean + v];
    }
    for (Index v = 0; v < width; ++v) {
      t[j][at.quadratic(g) + v] += quadratic[v];
      if (curved_) t[j][at.curvature(g) + v] += curvature[v];
      without_b += 0.5 * quadratic[v] * own[weights_.second + v];
    }
    t[j][at.constant(g)] += without_b;
  }
}

// The sums of add_piece() by matrix products.
void TangentVisit::find_sums(Index from, Index g, Index k) {
  const Index n = rows_from(from), e = rows_.layout.regressors(), width = rows_.layout.squares(),
              all = 2 + e + 2 * width;
  const Piece& p = piece(from, g);
  at_least(room_->pull, step * k);
  at_least(room_->mass, step * 2 * k);
  double *sum = room_->sum.data(), *pull = room_->pull.data(), *mass = room_->mass.data(),
         *curve = mass + step * k;
  for (Index j = 0; j < k; ++j) {
    const Index to = j * step, own = column_[j] * step;
    tangent_kernels().pulls(n, p.kappa.data(), p.offset.data(), p.bound.data() + own, p.omega.data() + own,
                            curved_ ? p.curve.data() + own : nullptr, room_->r.data() + to, pull + to,
                            mass + to, curve + to, sum + j * all);
  }
  const double *x = row(from) + rows_.regressors, *squares = room_->squares[place(from)].data();
  const auto add = [&](Index columns, const double* shares, const double* a, Index lda, double* to) {
    tangent_kernels().add_product(k, columns, n, shares, step, a, lda, to, all);
  };
  add(e, pull, x, rows_.width, sum + 2);
  add(width, mass, squares, width, sum + 2 + e);
  if (curved_) add(width, curve, squares, width, sum + 2 + e + width);
}

}  // namespace bnpvi
