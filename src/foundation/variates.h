// Random numbers with the usual distributions, from streams.
#pragma once
#include "foundation/random.h"

namespace bnpvi {

double draw_normal(Stream& stream);  // mean 0, variance 1 [Box & Muller 1958]

/// log of a number from Gamma(shape, rate 1), shape > 0 [Marsaglia & Tsang 2000]. The logarithm, as numbers
/// of small shapes underflow: of shape 0.001 half are below 1e-301.
double draw_log_gamma(double shape, Stream& stream);
double draw_gamma(double shape, double rate, Stream& stream);  // may be 0 for small shapes

/// log x and log(1 − x) of x from Beta(a, b), a, b > 0.
struct LogBeta {
  double log_x, log_rest;
};
LogBeta draw_log_beta(double a, double b, Stream& stream);

/// Logarithms of proportions from Dirichlet(weight), weights > 0.
Vec draw_log_dirichlet(const Vec& weight, Stream& stream);

double draw_von_mises(double concentration, Stream& stream);  // around 0 [Best & Fisher 1979]

inline bool draw_bernoulli(double p, Stream& stream) { return stream.uniform() < p; }

/// Successes of n tries; takes time in proportion to n.
Index draw_binomial(Index n, double p, Stream& stream);

}  // namespace bnpvi
