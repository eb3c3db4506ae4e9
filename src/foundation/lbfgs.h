// Maximisation of smooth functions of a few hundred variables.
#pragma once
#include <functional>

#include "foundation/rounded_sum.h"
#include "foundation/types.h"

namespace bnpvi {

/// A function to maximise: returns the value at x and writes the gradient (as long as x). A value that is not
/// finite means that x is outside the domain; the line search then takes a shorter step.
using SmoothFunction = std::function<RoundedSum(const Vec& x, Vec& gradient)>;

/// Maximises f, starting from x, by limited-memory BFGS [Nocedal & Wright 2006, Alg. 7.5] with a bisection
/// line search for the weak Wolfe conditions. If no step meets the Wolfe condition on the slope, a step that
/// raises the value enough is taken. On return x is the best point. The result is the value there, which is
/// never below the value at the given x.
///
/// The search ends when the largest entry of the gradient is below `tol` · (1 + |value|), when no step raises
/// the value by more than its rounding error, or after max_steps steps.
double maximise(const SmoothFunction& f, Vec& x, double tol = 1e-9, int max_steps = 200);

}  // namespace bnpvi
