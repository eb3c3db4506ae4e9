// Between R's lists and the engine's types.
#pragma once
#include <Rcpp.h>

#include <exception>
#include <memory>

#include "foundation/fields.h"
#include "inference/learn/learn.h"
#include "models/registry.h"
#include "observations/repeated_rows.h"

namespace bnpvi {

/// Fields of an R list.
class ListFields final : public Fields {
 public:
  /// replaced: fields whose values are used instead of those in the list.
  explicit ListFields(const Rcpp::List& list, const NamedArrays& replaced = {})
      : list_(list), replaced_(replaced) {}
  bool has(const char* name) const override { return list_.containsElementNamed(name); }
  std::string text(const char* name) const override;
  double number(const char* name) const override;
  Vec numbers(const char* name) const override;
  /// Those of `replaced` whose name is <list>.<field> are replaced in that list.
  Lists lists(const char* name) const override;

 private:
  SEXP get(const char* name) const;
  const NamedArray* replaced(const char* name) const;
  Rcpp::List list_;
  NamedArrays replaced_;
};

/// Throws std::invalid_argument ("internal error: ...") unless `holds`; R has checked what users give, so
/// that this is an error of the package.
void require(bool holds, const std::string& what);

/// The sets of a list(classes, class_sets): the number of the set of each of n units, 0 for none, and the
/// sets (x classes, logical).
ClassSets class_sets_from_r(const Rcpp::List& data, Index n);

/// A Dataset that points into an R list, which it keeps alive. Throws std::invalid_argument when sizes,
/// offsets or columns contradict each other.
class RData {
 public:
  explicit RData(const Rcpp::List& list);
  RData(const RData&) = delete;  // the view points into it
  RData& operator=(const RData&) = delete;
  const Dataset& view() const { return data_; }  // the rows as they are
  /// The data in the form that the model takes: the rows, or of RepeatedRows the sums of individuals, which
  /// replace those of an earlier call. Throws std::invalid_argument unless they have the columns of the
  /// model, and individuals where it wants them.
  const Dataset& view_for(const ObsModel& obs);

 private:
  Rcpp::List list_;
  ClassSets class_sets_;
  Dataset data_;
  Index n_individuals_ = 0;  // 0: each row is for itself
  std::vector<int> individual_;
  std::unique_ptr<IndividualSums> sums_;
};

/// The observation and the allocation model that an R list describes.
struct RModel {
  std::unique_ptr<ObsModel> obs;
  std::unique_ptr<AllocModel> alloc;
  /// learned: fields of the two models that replace those of the lists.
  explicit RModel(const Rcpp::List& model, const Sparsity& sparsity = {}, const NamedArrays& learned = {});
};

/// The observation model of an R list beside this allocation model, which may count covariate patterns.
std::unique_ptr<ObsModel> obs_beside(const AllocModel& alloc, const Fields& fields);

/// The allocation model as that of one family; null: it is of another.
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

/// Numbers of all units of the data: of modelled rows, or of groups.
std::vector<Index> all_units(const Dataset& data, const RModel& model);
/// Those of them that have a weight above 0, and the others.
std::vector<Index> counted_units(const Dataset& data, const RModel& model);
std::vector<Index> uncounted_units(const Dataset& data, const RModel& model);

Rcpp::List state_to_r(const Globals& globals);
Globals state_from_r(const Rcpp::List& state, const RModel& model);
Rcpp::List arrays_to_r(const NamedArrays& arrays);
Rcpp::NumericVector terms_to_r(const Terms& terms);

/// Calls an R function after each lap when there is one, and lets R do what it has waiting: a Ctrl-C becomes
/// Interrupted where the engine is to end with what it has (`catches`), else leaves the engine as R's own
/// interrupt; so does an error, as that of setTimeLimit().
class RMonitor final : public Monitor {
 public:
  explicit RMonitor(Rcpp::Nullable<Rcpp::Function> progress, bool catches = false)
      : progress_(progress), catches_(catches) {}
  void lap(const LapRecord& record) override;
  bool interrupted() override;

 private:
  /// Runs body(argument), which returns R_NilValue. Was it left because the user asked to stop?
  bool stopped_in(SEXP (*body)(void*), void* argument);

  Rcpp::Nullable<Rcpp::Function> progress_;
  bool catches_;
  bool stopped_ = false;  // while R reported a lap
};

/// A pool that warns in R when fewer threads could be started than were asked for.
class RPool : public Pool {
 public:
  RPool(Index n_threads, Monitor& monitor);
};

/// A pool that reports nothing, for entries that learn no fit.
struct LonePool {
  explicit LonePool(Index threads = 1) : pool(threads, monitor) {}
  RMonitor monitor{R_NilValue};
  RPool pool;
};

/// Everything that an entry which evaluates a fitted model on data needs.
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

/// What make() returns, an object of R. Where R fails (no memory) it jumps past the destructors of all
/// objects of C++ on its way, and threads would stay behind with a pool that is gone: large objects, while a
/// pool is alive, are made in here, and R's error comes out as an exception, which Rcpp turns into the error
/// again. Only what is alive within make() is lost by the jump.
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

/// Throws on what is being caught, from within a catch: parts of a fit, or of what was given with it, that do
/// not belong together become an error of R that has a class; errors that R knows by their own stay.
[[noreturn]] void rethrow_for_r();

/// Calls the body of an exported entry and returns its result; an interruption becomes R's interrupt
/// condition.
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
