// Sources of a fit's data, as R describes them.
#pragma once
#include <string>

#include "inference/data/source.h"
#include "inference/data/spool.h"
#include "inference/learn/state.h"
#include "r_convert.h"

namespace bnpvi {

/// "memory", or one that only tests have (TestHooks::source). units: those of each batch, groups or rows;
/// lag: rows before a row that its likelihood needs. Throws std::invalid_argument for another name.
std::unique_ptr<Source> make_source(const std::string& name, const Dataset& data,
                                    std::vector<std::vector<Index>> units, bool grouped, Index lag);

/// Most batches that were open at one time; 0 when the source does not count them.
Index most_open(const Source& source);

/// The starting fit of an update, whose data count, too, although they are not among these.
bool is_update(SEXP start);

/// The data of a fit: rows in memory, or a spool. Units whose weight is 0 are in no batch.
class FitData {
 public:
  FitData(const Rcpp::List& data, const Rcpp::List& control, const RModel& model, bool update);

  /// In batches: those of the spool, those that `control` gives (`batch_of`, a number from 1 for each unit),
  /// or else so many as it says, at random by this key. An update has one more, without units.
  std::unique_ptr<Source> dealt(std::uint64_t key) const;
  const Dataset* in_memory() const { return view_; }  // null: a spool
  /// Of the batches dealt last; empty where they are in memory.
  const std::string& spool_path() const { return spool_path_; }
  /// Units of data in memory that are in no batch.
  const std::vector<Index>& uncounted() const { return uncounted_; }

 private:
  std::vector<std::vector<Index>> batches(std::uint64_t key) const;
  std::unique_ptr<Source> written(const std::vector<std::vector<Index>>& units) const;

  const RModel& model_;
  const bool update_;
  std::unique_ptr<RData> rdata_;
  const Dataset* view_ = nullptr;
  std::shared_ptr<const Spool> spool_;
  std::string folder_;  // where data in memory are written for workers; empty: nowhere
  mutable std::string spool_path_;
  mutable int n_written_ = 0;
  std::string kind_;           // of the source, as make_source() has them
  std::vector<Index> starts_;  // of all groups of a spool
  std::vector<Index> uncounted_;
  Index n_batches_ = 1;
  std::vector<int> batch_of_;
};

/// what(problem, pool, control), of data in batches as `control` deals them, without workers.
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
