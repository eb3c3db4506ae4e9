// Maximisation of a function of one variable.
#pragma once
#include <functional>

namespace bnpvi {

/// Finds a local maximum of a continuous f on [low, high] near x, without derivatives. Returns x if f(x) is
/// not finite or nothing better is found. NaN counts as lower than any value.
///
/// The interval starts with x and its neighbours at ± step. It is widened uphill until its highest point lies
/// inside, or the end of the range is reached. Then it is narrowed by parabolas and golden sections [Brent
/// 1973, ch. 5]. The search ends when the vertex of the parabola through the best three points is within 1e-6
/// of the best point, or promises a gain of less than `worth`.
double maximise_near(const std::function<double(double)>& f, double x, double low, double high, double step,
                     double worth);

}  // namespace bnpvi
