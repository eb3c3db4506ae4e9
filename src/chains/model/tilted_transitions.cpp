#include "chains/model/tilted_transitions.h"

#include <algorithm>
#include <utility>

#include "inference/data/summary.h"
#include "observations/linalg.h"

namespace bnpvi::chains {

namespace {

// Of transitions from state j: to each state in all, then by pattern; never negative.
Vec counts_from(const Summary& s, Index j) {
  const Index patterns = s.shape.pairs;
  Vec out(static_cast<std::size_t>(s.k * (1 + patterns)), 0.0);
  for (Index c = 0; c < patterns; ++c)
    for (Index l = 0; l < s.k; ++l) {
      double* own = out.data() + l * (1 + patterns);
      own[0] += own[1 + c] = std::max(0.0, s.of_pair(j, l, c));
    }
  return out;
}

}  // namespace

double sum_over_patterns(const Summary& s, Index j, Index l) {
  double sum = 0;
  for (Index c = 0; c < s.shape.pairs; ++c) sum += std::max(0.0, s.of_pair(j, l, c));
  return sum;
}

TiltedTransitions::TiltedTransitions(TiltPrior prior) : prior_(std::move(prior)) { prior_.finite = true; }

TiltPrior TiltedTransitions::of_row(const double* weights, Index k, Index width) const {
  TiltPrior out = prior_;
  out.rest = width > k;
  out.weights = weights ? Vec(weights, weights + width) : Vec(static_cast<std::size_t>(width), 1.0);
  return out;
}

Index TiltedTransitions::numbers(Index k, Index width) const {
  return k * (tilt_width(prior_) * k + (width - k));
}

Tilt TiltedTransitions::row(const Vec& q, Index k, Index width, Index j) const {
  const Index n = numbers(k, width) / k;
  return Tilt(q.begin() + j * n, q.begin() + (j + 1) * n);
}

Vec TiltedTransitions::best(const Summary& counts, const TransitionRows& prior, const Vec& near,
                            bool rough) const {
  const Index k = counts.k, width = prior.width;
  const bool begun = static_cast<Index>(near.size()) == numbers(k, width);
  Vec out;
  for (Index j = 0; j < k; ++j) {
    const TiltPrior own = of_row(prior.row(1 + j), k, width);
    const Tilt from = begun ? row(near, k, width, j) : Tilt(), n = counts_from(counts, j);
    const Tilt found = rough ? rough_tilt(own, n, from) : best_tilt(own, n, from);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

RoundedSum TiltedTransitions::value(const Summary& counts, const TransitionRows& prior, const Vec& q) const {
  RoundedSum out;
  for (Index j = 0; j < counts.k; ++j)
    out.add(tilt_value(of_row(prior.row(1 + j), counts.k, prior.width), counts_from(counts, j),
                       row(q, counts.k, prior.width, j)));
  return out;
}

Vec TiltedTransitions::theta(const Vec& q, Index k, Index width) const {
  Vec out;
  for (Index j = 0; j < k; ++j) {
    const Tilt own = row(q, k, width, j);
    for (Index l = 0; l < k; ++l) out.push_back(own[l * tilt_width(prior_)]);
    if (width > k) out.push_back(own.back());
  }
  return out;
}

Vec TiltedTransitions::log_potentials(const Vec& q, Index k, Index width) const {
  Vec out(static_cast<std::size_t>(patterns() * k * k));
  const TiltPrior own = of_row(nullptr, k, width);
  for (Index j = 0; j < k; ++j) {
    const Tilt from = row(q, k, width, j);
    const Vec log_weights = tilt_log_weights(own, from);
    Vec log_z;
    tilt_shares(own, from, &log_z);
    for (Index c = 0; c < patterns(); ++c)
      for (Index l = 0; l < k; ++l) {
        const double* to = log_weights.data() + l * (1 + patterns());
        out[(c * k + j) * k + l] = to[0] + to[1 + c] - log_z[c];
      }
  }
  return out;
}

Vec TiltedTransitions::shares(const Vec& q, Index k, Index width) const {
  Vec out(static_cast<std::size_t>(patterns() * k * width));
  const TiltPrior own = of_row(nullptr, k, width);
  for (Index j = 0; j < k; ++j) {
    const Vec share = tilt_shares(own, row(q, k, width, j));
    for (Index c = 0; c < patterns(); ++c)
      std::copy_n(share.begin() + c * (k + 1), width, out.begin() + (c * k + j) * width);
  }
  return out;
}

Vec TiltedTransitions::joined(const Summary& counts, const Vec& q, Index width, Index a, Index b) const {
  const Index k = counts.k, p = prior_.columns, n = tilt_width(prior_);
  // q of (i, l) becomes that of two transitions with counts n_one and n_two: θ̂ and precisions add up.
  const auto join = [&](double* one, const double* two, double n_one, double n_two) {
    const double share = n_one + n_two > 0 ? n_two / (n_one + n_two) : 0.5;
    one[0] += two[0];
    for (Index i = 1; i <= p; ++i) one[i] += share * (two[i] - one[i]);
    for (Index i = 1 + p; i < n; ++i) one[i] += two[i];
    for (Index i = 0; i < p; ++i) one[1 + p + packed(i, i)] -= 1 / prior_.variance;
  };
  Vec out;
  const Tilt of_b = row(q, k, width, b);
  for (Index j = 0; j < k; ++j) {
    if (j == b) continue;
    Tilt own = row(q, k, width, j);
    if (j == a) {
      for (Index l = 0; l < k; ++l)
        join(own.data() + l * n, of_b.data() + l * n, sum_over_patterns(counts, a, l),
             sum_over_patterns(counts, b, l));
      if (width > k) own.back() += of_b.back();
    }
    const auto of = [&](Index l) {
      return sum_over_patterns(counts, j, l) + (j == a ? sum_over_patterns(counts, b, l) : 0);
    };
    join(own.data() + a * n, own.data() + b * n, of(a), of(b));
    own.erase(own.begin() + b * n, own.begin() + (b + 1) * n);
    out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

NamedArrays TiltedTransitions::arrays(const Vec& q, Index k, Index width) const {
  const Index p = prior_.columns;
  NamedArray mean{"effects", Vec(static_cast<std::size_t>(k * k * p)), {k, k, p}},
      cov{"effects_cov", Vec(static_cast<std::size_t>(p * p * k * k)), {p, p, k, k}};
  const TiltPrior own = of_row(nullptr, k, width);
  for (Index j = 0; j < k; ++j) {
    const NamedArrays of_row = tilt_arrays(own, row(q, k, width, j));
    const Vec &m = of_row[1].value, &s = of_row[2].value;  // K × P, P × P × K
    for (Index l = 0; l < k; ++l) {
      for (Index i = 0; i < p; ++i) mean.value[(i * k + l) * k + j] = m[i * k + l];
      std::copy_n(s.begin() + l * p * p, p * p, cov.value.begin() + (l * k + j) * p * p);
    }
  }
  return {mean, cov};
}

}  // namespace bnpvi::chains
