// Conversion of switching linear dynamical systems between R's lists and the engine's types.
#pragma once
#include "dynamics/lds_state.h"
#include "r_convert.h"

namespace bnpvi {

/// A switching linear dynamical system for the functions exported for it. Owns the objects to which
/// LdsProblem refers.
struct Lds {
  Vec latent_centre, latent_unit, centre, unit;
  dynamics::Series series;
  RModel model;
  std::unique_ptr<const ObsModel> rows;  // for clustering rows at a start
  dynamics::LdsProblem problem;          // its seed is not set

  Lds(const Rcpp::List& data, const Rcpp::List& given, Pool& pool, Observer& observer = nobody)
      : Lds(ListFields(Rcpp::List(given["obs"])), data, given, pool, observer) {}

 private:
  Lds(const Fields& f, const Rcpp::List& data, const Rcpp::List& given, Pool& pool, Observer& observer);
  Index latent() const { return static_cast<Index>(latent_unit.size()); }
  dynamics::StartPrior start_prior(const Fields& f) const;
  std::unique_ptr<const ObsModel> rows_model(const Fields& f) const;
};

Vec row_major(const Rcpp::NumericMatrix& x, Index rows, Index cols, const char* what);
Rcpp::NumericMatrix from_row_major(const Vec& x, Index rows, Index cols);

/// Sets the responsibilities r (n × k) of each sequence's first row to 0. For models in which a mode belongs
/// to the step from one row to the next, so that first rows have no mode.
void without_first_rows(const dynamics::Series& s, Index k, Vec& r);

/// An R list of
///   q(x), the continuous states, in the user's units;
///   E φ, the expected features, in engine units;
///   q(z), the probabilities of modes (the discrete states);
///   the start and the entropy of each sequence.
Rcpp::List paths_to_r(const Lds& lds, const dynamics::LdsState& state);

/// The globals (parameters that all rows share) as an R list. Unless the emission depends on the mode, the
/// list also has the statistics of the emission; seen_from_r() reads them.
Rcpp::List state_with_emission(const dynamics::LdsState& state, const dynamics::EmissionPrior& prior);
dynamics::EmissionStatistics seen_from_r(const Rcpp::List& state, const dynamics::EmissionPrior& prior);

/// q(C, ρ), the distribution of the emission's coefficients and precisions, in engine units, as an R list. If
/// the emission depends on the mode, the list has one element for each mode.
Rcpp::List emission_to_r(const std::vector<dynamics::Emission>& e, const dynamics::EmissionPrior& prior);

}  // namespace bnpvi
