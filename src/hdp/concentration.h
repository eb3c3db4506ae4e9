// Concentrations of the rows Dirichlet(απ) below a shared π: given, or learned.
#pragma once
#include <functional>
#include <optional>

#include "foundation/gamma_prior.h"
#include "foundation/named_array.h"

namespace bnpvi {

/// A number; with a prior it is learned, and the log density of the prior at the value is a term of the
/// objective.
struct Concentration {
  double value;
  double least = 0;  // that a learned one may have
  std::optional<GammaPrior> prior = std::nullopt;
};

/// The largest value that a learned concentration may have: the end of parameter_ranges in R/check.R.
constexpr double most_concentrated = 1e6;

/// From one number, a fixed value; from two, shape and rate of the prior, a value to begin with, the prior's
/// mean; from three, these and the present value. Learned values keep to [least, most_concentrated].
Concentration make_concentration(const Vec& numbers, double least);

/// Adds { name: shape, rate, value } to the fields if the concentration is learned.
void add_field(const char* name, const Concentration& concentration, NamedArrays& fields);

/// log p(value) of one that is learned, 0 of one that is given.
double log_density(const Concentration& concentration);

/// A value with a higher objective(value), sought near the present one on the scale of logarithms
/// (interval_search.h); the present one where none is found.
double better_value(const Concentration& concentration, const std::function<double(double)>& objective);

}  // namespace bnpvi
