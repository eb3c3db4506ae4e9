// Conversion between R's lists and the engine's types.
#pragma once
#include <Rcpp.h>

#include <exception>
#include <memory>

#include "foundation/fields.h"
#include "inference/learn/learn.h"
#include "models/registry.h"
#include "observations/repeated_rows.h"

namespace bnpvi {

/// The elements of an R list, read through the engine's interface for named fields.
class ListFields final : public Fields {
 public:
  /// replaced: values that are used instead of the list's elements of the same names.
  explicit ListFields(const Rcpp::List& list, const NamedArrays& replaced = {})
      : list_(list), replaced_(replaced) {}
  bool has(const char* name) const override { return list_.containsElementNamed(name); }
  std::string text(const char* name) const override;
  double number(const char* name) const override;
  Vec numbers(const char* name) const override;
  /// The list elements that are lists themselves (see Fields::lists()). A value of `replaced` named
  /// <list>.<field> is used instead of the element <field> of the inner list <list>.
  Lists lists(const char* name) const override;

 private:
  SEXP get(const char* name) const;
  const NamedArray* replaced(const char* name) const;
  Rcpp::List list_;
  NamedArrays replaced_;
};

/// Throws std::invalid_argument ("internal error: ...") unless `holds`. For conditions that R has already
/// checked: if one does not hold, that is an error of the package.
void require(bool holds, const std::string& what);

/// Reads the sets of classes to which labelled units may belong, from list(classes, class_sets). classes: for
/// each of n units the number of its set, 0 for none. class_sets: a logical matrix, sets × classes.
ClassSets class_sets_from_r(const Rcpp::List& data, Index n);

/// Data as the engine reads them (Dataset): pointers into an R list, which this object keeps alive. Throws
/// std::invalid_argument if sizes, offsets or columns contradict each other.
class RData {
 public:
  explicit RData(const Rcpp::List& list);
  RData(const RData&) = delete;  // the view points into this object
  RData& operator=(const RData&) = delete;
  const Dataset& view() const { return data_; }  // rows in the form that R gave
  /// The data in the form that the model needs: the rows or, for RepeatedRows, sums over each individual's
  /// rows. A further call for RepeatedRows replaces the sums of the call before. Throws std::invalid_argument
  /// unless the data have the columns of the model, and individuals if the model needs them.
  const Dataset& view_for(const ObsModel& obs);

 private:
  Rcpp::List list_;
  ClassSets class_sets_;
  Dataset data_;
  Index n_individuals_ = 0;  // 0: rows do not belong to individuals
  std::vector<int> individual_;
  std::unique_ptr<IndividualSums> sums_;
};

/// The two models that an R list describes: the observation model (of rows given clusters) and the allocation
/// model (of cluster probabilities).
struct RModel {
  std::unique_ptr<ObsModel> obs;
  std::unique_ptr<AllocModel> alloc;
  /// learned: values of the two models' fields that were learned; they are used instead of those in the
  /// lists.
  explicit RModel(const Rcpp::List& model, const Sparsity& sparsity = {}, const NamedArrays& learned = {});
};

/// The observation model that a list describes, for use with this allocation model (the prior of cluster
/// probabilities). If the allocation model depends on covariates, the observation model also counts rows by
/// covariate pattern (PatternedRows).
std::unique_ptr<ObsModel> obs_beside(const AllocModel& alloc, const Fields& fields);

/// Casts the allocation model (the prior of cluster probabilities) to the class `Alloc` of one family of
/// models; null if it belongs to another family.
template <class Alloc>
const Alloc* alloc_as(const AllocModel& alloc) {
  return dynamic_cast<const Alloc*>(&alloc);
}

template <class Alloc>
const Alloc& alloc_of(const AllocModel& alloc) {
  const Alloc* out = alloc_as<Alloc>(alloc);
  require(out != nullptr, "the prior is of another family");
  return *out;
}

/// The numbers 0 .. n − 1 of all units of the data. A unit is a modelled row, or a group in models of groups.
std::vector<Index> all_units(const Dataset& data, const RModel& model);
/// The units (rows or groups) with a weight above 0; uncounted_units() returns the others.
std::vector<Index> counted_units(const Dataset& data, const RModel& model);
std::vector<Index> uncounted_units(const Dataset& data, const RModel& model);

Rcpp::List state_to_r(const Globals& globals);
Globals state_from_r(const Rcpp::List& state, const RModel& model);
Rcpp::List arrays_to_r(const NamedArrays& arrays);
Rcpp::NumericVector terms_to_r(const Terms& terms);

/// Calls an R function (if any) after each lap, one pass over all batches, and lets R process pending events.
/// catches: Ctrl-C throws Interrupted, so that the engine can return the result so far. Without it, R's own
/// interrupt leaves the engine. So do errors, such as that of setTimeLimit().
class RMonitor final : public Monitor {
 public:
  explicit RMonitor(Rcpp::Nullable<Rcpp::Function> progress, bool catches = false)
      : progress_(progress), catches_(catches) {}
  void lap(const LapRecord& record) override;
  bool interrupted() override;

 private:
  /// Runs body(argument), which returns R_NilValue. Returns true if the user interrupted body.
  bool stopped_in(SEXP (*body)(void*), void* argument);

  Rcpp::Nullable<Rcpp::Function> progress_;
  bool catches_;
  bool stopped_ = false;  // interrupted while R reported a lap
};

/// A pool of threads that gives an R warning when fewer threads could be started than were requested.
class RPool : public Pool {
 public:
  RPool(Index n_threads, Monitor& monitor);
};

/// A pool of threads with a silent monitor, for exported functions that do not learn a fit.
struct LonePool {
  explicit LonePool(Index threads = 1) : pool(threads, monitor) {}
  RMonitor monitor{R_NilValue};
  RPool pool;
};

/// Everything that an exported function needs to evaluate a fitted model on data.
struct Query {
  RData rdata;
  RModel model;
  const Dataset& view;
  Globals globals;
  RMonitor monitor{R_NilValue};
  RPool pool;

  Query(const Rcpp::List& data, const Rcpp::List& model, const Rcpp::List& state, int threads,
        const Sparsity& sparsity = {});
  const Dataset& data() const { return view; }
  const ObsModel& obs() const { return *model.obs; }
  Index k() const { return globals.effective.k; }
  std::shared_ptr<const Weights> weights() const {
    return visit_weights(*model.alloc, obs(), data(), globals.effective, nullptr);
  }
};

Rcpp::List record_to_r(const LapRecord& record);

/// Returns the R object that make() returns. For large R objects that are made while a pool of threads
/// exists. An R error (such as lack of memory) jumps over the destructors of C++ objects, so the pool's
/// threads would never end. Inside make(), R's error becomes a C++ exception, which Rcpp later turns into the
/// R error again. The jump then skips only what was allocated within make().
template <class F>
auto made_in_r(F make) -> decltype(make()) {
  std::exception_ptr error;  // exceptions must not cross the frames of R either
  const Rcpp::Shield<SEXP> out(Rcpp::unwindProtect([&]() -> SEXP {
    try {
      return make();
    } catch (...) {
      error = std::current_exception();
      return R_NilValue;
    }
  }));
  if (error) std::rethrow_exception(error);
  return decltype(make())(static_cast<SEXP>(out));
}

/// Rethrows the current exception for R; to be called inside a catch block. An exception that says that parts
/// of a fit, or arguments given with it, do not belong together becomes an R error with a class of its own.
/// Errors that R knows pass unchanged.
[[noreturn]] void rethrow_for_r();

/// Runs the body of a function that is exported to R and returns its result. An interrupt of the engine
/// becomes R's interrupt condition.
template <class F>
auto entry(F body) -> decltype(body()) {
  try {
    return body();
  } catch (const Interrupted&) {
    throw Rcpp::internal::InterruptedException();
  } catch (const std::exception&) {
    rethrow_for_r();
  }
}

}  // namespace bnpvi
