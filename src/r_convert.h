// Between R's lists and the engine's types.
#pragma once
#include <Rcpp.h>

#include <memory>

#include "foundation/fields.h"
#include "inference/learn.h"
#include "models/registry.h"

namespace bnpvi {

/// Fields of an R list.
class ListFields final : public Fields {
 public:
  /// replaced: fields whose values take the place of those in the list.
  explicit ListFields(const Rcpp::List& list, const NamedArrays& replaced = {})
      : list_(list), replaced_(replaced) {}
  bool has(const char* name) const override { return list_.containsElementNamed(name); }
  std::string text(const char* name) const override;
  double number(const char* name) const override;
  Vec numbers(const char* name) const override;

 private:
  SEXP get(const char* name) const;
  const NamedArray* replaced(const char* name) const;
  Rcpp::List list_;
  NamedArrays replaced_;
};

/// Throws std::invalid_argument, which is an error of this package and not of its user, unless `holds`.
void require(bool holds, const std::string& what);

/// A Dataset that looks into an R list, which it keeps alive. Sizes, offsets and columns are checked.
class RData {
 public:
  explicit RData(const Rcpp::List& list);
  const Dataset& view() const { return data_; }

 private:
  Rcpp::List list_;
  Dataset data_;
};

/// Observation and allocation model of an R list.
struct RModel {
  std::unique_ptr<ObsModel> obs;
  std::unique_ptr<AllocModel> alloc;
  /// learned: fields of the observation model that replace those of the list.
  explicit RModel(const Rcpp::List& model, const Sparsity& sparsity = {}, const NamedArrays& learned = {});
};

/// The data have the columns of the model.
void require_columns(const Dataset& data, const ObsModel& obs);

/// Every unit of the data: rows with a likelihood, or groups.
std::vector<Index> all_units(const Dataset& data, const RModel& model);

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
  Rcpp::Nullable<Rcpp::Function> progress_;
  bool catches_;
};

/// A pool whose user is warned when it has fewer threads than asked for.
class RPool : public Pool {
 public:
  RPool(Index n_threads, Monitor& monitor);
};

/// What a question to a fitted model is asked of.
struct Query {
  RData rdata;
  RModel model;
  Globals globals;
  RMonitor monitor{R_NilValue};
  RPool pool;

  Query(const Rcpp::List& data, const Rcpp::List& model, const Rcpp::List& state, int threads,
        const Sparsity& sparsity = {});
  const Dataset& data() const { return rdata.view(); }
  const ObsModel& obs() const { return *model.obs; }
  Index k() const { return globals.effective.k; }
  std::shared_ptr<const Weights> weights() const {
    return model.alloc->visit_weights(obs(), data(), globals.effective, nullptr);
  }
};

Rcpp::List record_to_r(const LapRecord& record);

/// Runs an entry; an interruption reaches R as its own interrupt condition.
template <class F>
auto entry(F body) -> decltype(body()) {
  try {
    return body();
  } catch (const Interrupted&) {
    throw Rcpp::internal::InterruptedException();
  }
}

}  // namespace bnpvi
