// Maximisation of smooth functions of a few hundred variables.
#pragma once
#include <functional>

#include "foundation/rounded_sum.h"
#include "foundation/types.h"

namespace bnpvi {

/// Value at x; writes the gradient (same length as x). Where it is not finite, x is out of bounds.
using SmoothFunction = std::function<RoundedSum(const Vec& x, Vec& gradient)>;

/// Limited-memory BFGS [Nocedal & Wright 2006, Alg. 7.5] with a bisection line search for the weak Wolfe
/// conditions; of a step that meets the first and cannot be made to meet the second, the first will do. Moves
/// x uphill until the gradient's largest entry is below `tol` · (1 + |value|) or no step raises the value by
/// more than its rounding; returns the value, which is never below that at the given x.
double maximise(const SmoothFunction& f, Vec& x, double tol = 1e-9, int max_steps = 200);

}  // namespace bnpvi
