// The families of models that engine_fit() can fit.
#pragma once
#include "inference/learn/observer.h"
#include "r_learn.h"

namespace bnpvi {

/// The arguments of engine_fit(), the function that R calls; they must outlive the family made from them.
struct FitCall {
  const Rcpp::List& data;
  const Rcpp::List& model;
  const Rcpp::List& control;
  SEXP start;
  Pool& pool;
  Observer& observer;
};

/// Makes fits of one family of models from R's data, model and control, and turns a learned fit into an R
/// list. It only converts: the engine decides where a fit starts and how it is learned.
class RFamily {
 public:
  virtual ~RFamily() = default;

  /// begin() makes a fit from a new start; read() makes one from an archive. Both are as in Maker.
  virtual Learned begin(const Start& start) = 0;
  virtual std::unique_ptr<Fit> read(const Start& start, Reader& in) = 0;

  /// alters(): whether fits can start from the end of another fit after some changes; alter() makes such a
  /// start, as in Maker.
  virtual bool alters() const { return false; }
  virtual Learned alter(const Start&, const Fit&) { return {}; }

  /// The elements that this family adds to the R list of a fit, in addition to those of add_run(). The run
  /// must have an objective.
  virtual Rcpp::List result(const Restarted& run) = 0;
};

std::unique_ptr<RFamily> family_of_clusters(const FitCall& call);  // mixtures, topics and chains
std::unique_ptr<RFamily> family_of_features(const FitCall& call);
std::unique_ptr<RFamily> family_of_systems(const FitCall& call);  // linear dynamical systems
std::unique_ptr<RFamily> family_of_blocks(const FitCall& call);
std::unique_ptr<RFamily> family_of_communities(const FitCall& call);  // overlapping communities

}  // namespace bnpvi
