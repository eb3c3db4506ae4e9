#include "observations/expected_responses.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi {

ExpectedResponses::ExpectedResponses(const WishartModel& model, const MissingCells& missing) : model_(model) {
  for (Index i = 0; i < model.coordinates(); ++i) (missing[i] ? m_ : o_).push_back(i);
  for (Index i : m_) log_unit_ += std::log(model.unit_of(i));
  for (Index i : o_)
    if (!model.cells().empty()) cell_.push_back(model.cells()[i]);
  n_o_ = static_cast<Index>(o_.size());
  n_m_ = static_cast<Index>(m_.size());
}

ExpectedResponses::Given ExpectedResponses::given(const double* w) const {
  Given out{Vec(static_cast<std::size_t>(n_m_ * n_o_)), Vec(static_cast<std::size_t>(n_m_ * n_m_)), 0};
  Vec precision(out.v.size()), column(static_cast<std::size_t>(n_m_));
  for (Index i = 0; i < n_m_; ++i)
    for (Index j = 0; j < n_m_; ++j) precision[i * n_m_ + j] = -second(w, m_[i], m_[j]);
  const Cholesky chol(precision.data(), n_m_);
  out.log_normaliser = 0.5 * (static_cast<double>(n_m_) * log_2pi - chol.log_det(0, n_m_));
  for (Index j = 0; j < n_m_; ++j) {
    std::fill(column.begin(), column.end(), 0.0);
    column[j] = 1;
    chol.solve(column.data());
    for (Index i = 0; i < n_m_; ++i) out.v[i * n_m_ + j] = column[i];
  }
  for (Index i = 0; i < n_m_; ++i)
    for (Index b = 0; b < n_o_; ++b)
      for (Index j = 0; j < n_m_; ++j) out.g[i * n_o_ + b] += out.v[i * n_m_ + j] * second(w, m_[j], o_[b]);
  return out;
}

void ExpectedResponses::gather(const Dataset& data, const Index* rows, Index n, double* out) const {
  const Index m = model_.coordinates();
  if (n_m_ == 0) return model_.gather_coordinates(data, rows, n, out);
  Vec v(static_cast<std::size_t>(n * m));
  model_.gather_coordinates(data, rows, n, v.data());
  for (Index i = 0; i < n; ++i)
    for (Index a = 0; a < n_o_; ++a) out[i * n_o_ + a] = v[i * m + o_[a]];
}

void ExpectedResponses::weights(const double* w, const Given& q, double* squares) const {
  for (Index a = 0; a < n_o_; ++a)
    for (Index b = 0; b <= a; ++b) {
      double sum = second(w, o_[a], o_[b]);
      for (Index i = 0; i < n_m_; ++i) sum += second(w, m_[i], o_[a]) * q.g[i * n_o_ + b];
      squares[packed(a, b)] = a == b ? sum / 2 : sum;
    }
}

void ExpectedResponses::expand(const Given& q, double count, const double* squares, double* t) const {
  double* sum = t + offset();
  for (Index a = 0; a < n_o_; ++a)
    for (Index b = 0; b <= a; ++b) sum[packed(o_[a], o_[b])] += squares[packed(a, b)];
  Vec cross(static_cast<std::size_t>(n_o_));  // a row of G S'
  for (Index i = 0; i < n_m_; ++i) {
    for (Index b = 0; b < n_o_; ++b) {
      cross[b] = 0;
      for (Index a = 0; a < n_o_; ++a) cross[b] += q.g[i * n_o_ + a] * squares[packed(a, b)];
      sum[packed(m_[i], o_[b])] += cross[b];
    }
    for (Index j = 0; j <= i; ++j) {
      double square = count * q.v[i * n_m_ + j];
      for (Index b = 0; b < n_o_; ++b) square += cross[b] * q.g[j * n_o_ + b];
      sum[packed(m_[i], m_[j])] += square;
    }
  }
}

// Entry of A. Weights of squares are half of the diagonal of A; an off-diagonal entry of the features stands
// for two. If v_0² = φ_0, its weight also contains those of the allocation and of the count of rows, which
// do not belong to A.
double ExpectedResponses::second(const double* w, Index i, Index j) const {
  if (offset() == 0 && i == 0 && j == 0) return 2 * w[0];
  return (i == j ? 2 : 1) * w[offset() + packed(i, j)];
}

}  // namespace bnpvi
