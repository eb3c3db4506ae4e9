// Families of fits, as engine_fit() runs them.
#pragma once
#include "inference/learn/observer.h"
#include "r_learn.h"

namespace bnpvi {

/// What engine_fit() was called with; alive as long as the family that is made of it.
struct FitCall {
  const Rcpp::List& data;
  const Rcpp::List& model;
  const Rcpp::List& control;
  SEXP start;
  Pool& pool;
  Observer& observer;
};

/// Makes the fits of R's data, model and control, and an R list of the one that was learned. It converts:
/// where a fit starts and how it is learned is the engine's.
class RFamily {
 public:
  virtual ~RFamily() = default;

  /// As in Maker.
  virtual Learned begin(const Start& start) = 0;
  virtual std::unique_ptr<Fit> read(const Start& start, Reader& in) = 0;

  /// What R's fit has of this family, beside what add_run() adds. The run has an objective.
  virtual Rcpp::List result(const Restarted& run) = 0;
};

std::unique_ptr<RFamily> family_of_clusters(const FitCall& call);  // mixtures, topics and chains
std::unique_ptr<RFamily> family_of_features(const FitCall& call);
std::unique_ptr<RFamily> family_of_systems(const FitCall& call);  // linear dynamical ones
std::unique_ptr<RFamily> family_of_blocks(const FitCall& call);
std::unique_ptr<RFamily> family_of_communities(const FitCall& call);  // that overlap

}  // namespace bnpvi
