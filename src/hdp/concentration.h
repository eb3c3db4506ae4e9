// Concentrations α of groups whose proportions are Dirichlet(απ) with a shared mean π. A concentration is
// fixed or learned.
#pragma once
#include <functional>
#include <optional>

#include "foundation/gamma_prior.h"
#include "foundation/named_array.h"

namespace bnpvi {

/// The value of a concentration. If there is a prior, the value is learned, and the log density of the prior
/// at the value is a term of the objective.
struct Concentration {
  double value;
  double least = 0;  // least value that a learned concentration may have
  std::optional<GammaPrior> prior = std::nullopt;
};

/// The largest value that a learned concentration may have; also the upper end of parameter_ranges in
/// R/check.R.
constexpr double most_concentrated = 1e6;

/// Makes a concentration from numbers: one is a fixed value; two are shape and rate of the prior, whose mean
/// is the initial value; three are shape, rate and the present value. Learned values stay within [least,
/// most_concentrated].
Concentration make_concentration(const Vec& numbers, double least);

/// If the concentration is learned, appends the array `name` to the fields: shape and rate of its prior, and
/// its present value.
void add_field(const char* name, const Concentration& concentration, NamedArrays& fields);

/// Log density of the prior of a learned concentration at its value; 0 for a fixed one.
double log_density(const Concentration& concentration);

/// Searches for a value of the concentration with a higher objective(value), near the present value on the
/// log scale (interval_search.h). Returns the present value if none is found.
double better_value(const Concentration& concentration, const std::function<double(double)>& objective);

}  // namespace bnpvi
