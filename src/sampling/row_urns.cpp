#include "sampling/row_urns.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"
#include "sampling/labels.h"

namespace bnpvi {

double exp_where_possible(const Vec& odds, double* x) {
  const Index n = static_cast<Index>(odds.size());
  const auto impossible = [](double o) { return !(o > 0); };
  if (std::any_of(odds.begin(), odds.end(), impossible)) {
    double most = -HUGE_VAL;
    for (Index j = 0; j < n; ++j)
      if (!impossible(odds[j])) most = std::max(most, x[j]);
    for (Index j = 0; j < n; ++j)
      if (impossible(odds[j])) x[j] = most;
  }
  double top = 0;
  kernels().exp_rows(1, n, x, n, x, n, &top);
  return top;
}

void RowUrns::begin_with(const double* t, Index k) {
  urns_.begin_with(t, k);
  removed_ = -1;
}

void RowUrns::begin_with(const std::vector<int>& label) {
  begin_with(nullptr, 0);
  urns_.open(number_of_clusters(label) - 1);
  Vec buffer = rows_.buffer();
  for (Index i = 0; i < rows_.n(); ++i) urns_.gather(label[i], rows_.of(i, buffer.data()));
  urns_.fill();
}

void RowUrns::add(Index j, Index i, double mass) {
  if (removed_ == i && removed_from_ == j && removed_mass_ == mass) {
    urns_.put_back();
  } else {
    Vec buffer = rows_.buffer();
    urns_.add(j, rows_.of(i, buffer.data()), mass);
  }
  removed_ = -1;
}

bool RowUrns::remove(Index j, Index i, double mass) {
  Vec buffer = rows_.buffer();
  removed_ = i;
  removed_from_ = j;
  removed_mass_ = mass;
  return urns_.remove(j, rows_.of(i, buffer.data()), mass);
}

void RowUrns::drop(Index j) {
  urns_.drop(j);
  removed_ = -1;
}

double RowUrns::weigh_without(Index i, Index own, double mass, const Vec& odds, double* out) const {
  Vec buffer = rows_.buffer();
  const double* phi = rows_.of(i, buffer.data());
  urns_.predictives(phi, static_cast<Index>(odds.size()), out);
  if (own >= 0) out[own] = urns_.predictive_without(own, phi, mass);
  const double top = exp_where_possible(odds, out);
  for (std::size_t j = 0; j < odds.size(); ++j) out[j] *= odds[j];
  return top;
}

Vec RowUrns::statistics(const Vec& begun, const std::vector<int>& label, const Vec& mass) const {
  Vec t = begun;
  t.resize(static_cast<std::size_t>(k() * rows_.p()), 0.0);
  for (Index i = 0; i < rows_.n(); ++i) rows_.add_to(t.data() + label[i] * rows_.p(), i, mass[i]);
  return t;
}

}  // namespace bnpvi
