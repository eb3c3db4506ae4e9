// Random variates of common distributions, drawn from random streams.
#pragma once
#include "foundation/random.h"

namespace bnpvi {

double draw_normal(Stream& stream);  // from N(0, 1) [Box & Muller 1958]

/// The logarithm of a draw from Gamma(shape, rate 1), shape > 0 [Marsaglia & Tsang 2000]. The logarithm is
/// returned because draws for small shapes underflow: for shape 0.001 half are below 1e-301.
double draw_log_gamma(double shape, Stream& stream);
double draw_gamma(double shape, double rate, Stream& stream);  // may be 0 for small shapes

/// The logarithms of x and 1 − x for an x drawn from Beta(a, b), a, b > 0.
struct LogBeta {
  double log_x, log_rest;
};
LogBeta draw_log_beta(double a, double b, Stream& stream);

/// Draws proportions from Dirichlet(weight), all weights > 0, and returns their logarithms.
Vec draw_log_dirichlet(const Vec& weight, Stream& stream);

double draw_von_mises(double concentration, Stream& stream);  // with mean direction 0 [Best & Fisher 1979]

inline bool draw_bernoulli(double p, Stream& stream) { return stream.uniform() < p; }

/// Draws the number of successes in n trials with probability p. Takes time proportional to n.
Index draw_binomial(Index n, double p, Stream& stream);

}  // namespace bnpvi
