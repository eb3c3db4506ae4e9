// Sources of a fit's data (where its batches come from), made from R's descriptions.
#pragma once
#include <string>

#include "inference/data/source.h"
#include "inference/data/spool.h"
#include "inference/learn/state.h"
#include "r_convert.h"

namespace bnpvi {

/// Makes the source with this name: "memory", or a source that only tests have (TestHooks::source). units:
/// for each batch the numbers of its units, which are groups or rows. lag: on how many earlier rows the
/// likelihood of a row depends. Throws std::invalid_argument for an unknown name.
std::unique_ptr<Source> make_source(const std::string& name, const Dataset& data,
                                    std::vector<std::vector<Index>> units, bool grouped, Index lag);

/// The largest number of batches of a source that were open at the same time; 0 if the source does not count
/// them.
Index most_open(const Source& source);

/// Whether `start` is a fit to be updated. The data of that fit then count, too, although they are not among
/// the present data.
bool is_update(SEXP start);

/// The data of a fit: rows in memory, or a spool (a file of batches). Units (rows or groups) of weight 0 are
/// in no batch.
class FitData {
 public:
  FitData(const Rcpp::List& data, const Rcpp::List& control, const RModel& model, bool update);

  /// The data in batches. If there is a spool (a file of batches), these are its batches. Otherwise `control`
  /// gives either `batch_of`, a batch number from 1 for each unit, or a number of random batches, which are
  /// drawn with this key. An update has one more batch, without units, for the earlier data.
  std::shared_ptr<const Source> dealt(std::uint64_t key) const;
  const Dataset* in_memory() const { return view_; }  // null for a spool
  /// Path of the spool (file of batches) that holds the batches dealt last; empty if they are in memory.
  const std::string& spool_path() const { return spool_path_; }
  /// Numbers of the units in memory that are in no batch, because their weight is 0.
  const std::vector<Index>& uncounted() const { return uncounted_; }

 private:
  std::vector<std::vector<Index>> batches(std::uint64_t key) const;
  std::shared_ptr<const Source> written(std::uint64_t key) const;

  const RModel& model_;
  const bool update_;
  std::unique_ptr<RData> rdata_;
  const Dataset* view_ = nullptr;
  std::shared_ptr<const Spool> spool_;
  std::string folder_;  // folder to which data in memory are written for workers; empty: they are not written
  mutable std::string spool_path_;
  mutable int n_written_ = 0;
  // What was written with the last two keys: the best run so far and the present one may need it again.
  struct Written {
    std::uint64_t key;
    std::string path;
    std::shared_ptr<const Source> source;
  };
  mutable std::vector<Written> written_;
  std::string kind_;           // name of the source, for make_source()
  std::vector<Index> starts_;  // where all groups begin, for data in a spool
  std::vector<Index> uncounted_;
  Index n_batches_ = 1;
  std::vector<int> batch_of_;
};

/// Returns what(problem, pool, control) for data that are divided into batches as `control` says. All work is
/// done in this process.
template <class What>
auto on_dealt_data(const Rcpp::List& data, const Rcpp::List& model, const Rcpp::List& control, What what) {
  const ListFields c(control);
  const RModel given(model);
  const FitData rows(data, control, given, false);
  RMonitor monitor{R_NilValue};
  RPool pool(c.integer("threads"), monitor);
  const auto seed = static_cast<std::uint64_t>(c.number("seed"));
  const std::shared_ptr<const Source> source = rows.dealt(seed);
  return what(Problem{*source, *given.obs, *given.alloc, seed, nobody, &pool}, pool, c);
}

}  // namespace bnpvi
