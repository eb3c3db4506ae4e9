// Sources of a fit's data, made from R's descriptions.
#pragma once
#include <string>

#include "inference/data/source.h"
#include "inference/data/spool.h"
#include "inference/learn/state.h"
#include "r_convert.h"

namespace bnpvi {

/// The source named "memory", or one that only tests have (TestHooks::source). units: for each batch the
/// numbers of its units, which are groups or rows; lag: number of preceding rows that the likelihood of a row
/// needs. Throws std::invalid_argument for an unknown name.
std::unique_ptr<Source> make_source(const std::string& name, const Dataset& data,
                                    std::vector<std::vector<Index>> units, bool grouped, Index lag);

/// Largest number of batches that were open at the same time; 0 if the source does not count them.
Index most_open(const Source& source);

/// Is `start` a fit to be updated, whose earlier data count, too, although they are not among the present
/// data?
bool is_update(SEXP start);

/// The data of a fit: rows in memory, or a spool (a file of batches). Units of weight 0 are in no batch.
class FitData {
 public:
  FitData(const Rcpp::List& data, const Rcpp::List& control, const RModel& model, bool update);

  /// The data in batches: those of the spool; or those that `control` gives (`batch_of`, for each unit a
  /// number from 1); or the number of random batches that it gives, drawn with this key. An update has one
  /// more batch, without units.
  std::unique_ptr<Source> dealt(std::uint64_t key) const;
  const Dataset* in_memory() const { return view_; }  // null for a spool
  /// Path of the spool that holds the batches dealt last; empty if they are in memory.
  const std::string& spool_path() const { return spool_path_; }
  /// Units in memory that are in no batch, because their weight is 0.
  const std::vector<Index>& uncounted() const { return uncounted_; }

 private:
  std::vector<std::vector<Index>> batches(std::uint64_t key) const;
  std::unique_ptr<Source> written(const std::vector<std::vector<Index>>& units) const;

  const RModel& model_;
  const bool update_;
  std::unique_ptr<RData> rdata_;
  const Dataset* view_ = nullptr;
  std::shared_ptr<const Spool> spool_;
  std::string folder_;  // data in memory are written there for workers; empty: not written
  mutable std::string spool_path_;
  mutable int n_written_ = 0;
  std::string kind_;           // name of the source, for make_source()
  std::vector<Index> starts_;  // where all groups begin, for data in a spool
  std::vector<Index> uncounted_;
  Index n_batches_ = 1;
  std::vector<int> batch_of_;
};

/// Returns what(problem, pool, control) for data dealt to batches according to `control`, without workers.
template <class What>
auto on_dealt_data(const Rcpp::List& data, const Rcpp::List& model, const Rcpp::List& control, What what) {
  const ListFields c(control);
  const RModel given(model);
  const FitData rows(data, control, given, false);
  RMonitor monitor{R_NilValue};
  RPool pool(c.integer("threads"), monitor);
  const auto seed = static_cast<std::uint64_t>(c.number("seed"));
  const std::unique_ptr<Source> source = rows.dealt(seed);
  return what(Problem{*source, *given.obs, *given.alloc, seed, nobody, &pool}, pool, c);
}

}  // namespace bnpvi
