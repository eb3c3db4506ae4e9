// Maximisation of a function of one variable.
#pragma once
#include <functional>

namespace bnpvi {

/// A maximum of a continuous f on [low, high] near x, to about 1e-6, without derivatives: from x and its
/// neighbours at ± step the interval is widened uphill until it has a higher point inside or reaches an end,
/// and then narrowed by parabolas and golden sections [Brent 1973, ch. 5]. Where f(x) is NaN, or no point is
/// better, returns x; a value that is NaN counts as lower than all others.
double maximise_near(const std::function<double(double)>& f, double x, double low, double high, double step);

}  // namespace bnpvi
