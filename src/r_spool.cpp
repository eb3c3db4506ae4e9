// Spools (files of batches): written piece by piece, and read batch by batch.
#include <algorithm>
#include <filesystem>
#include <numeric>

#include "foundation/checksum.h"
#include "inference/data/spool_index.h"
#include "r_convert.h"

using namespace bnpvi;

// For each of n units the number, from 1, of its batch. Units are dealt one after the other, at random, to a
// batch with probability proportional to the room left in it; a Fenwick tree sums the rooms. Sizes of
// batches differ by at most 1.
// [[Rcpp::export]]
Rcpp::IntegerVector engine_deal(int n, int batches) {
  std::vector<int> room(static_cast<std::size_t>(batches) + 1, 0);
  int top = 1;
  while (top * 2 <= batches) top *= 2;
  for (int b = 1; b <= batches; ++b) {
    const Index from = static_cast<Index>(n) * (b - 1) / batches, to = static_cast<Index>(n) * b / batches;
    room[b] += static_cast<int>(to - from);
    const int parent = b + (b & -b);
    if (parent <= batches) room[parent] += room[b];
  }
  Stream stream(0, Purpose::batches);
  Rcpp::IntegerVector out(n);
  for (int i = 0; i < n; ++i) {
    if (i % 1000000 == 0) Rcpp::checkUserInterrupt();
    int before = static_cast<int>(stream.index(n - i)), b = 0;  // the batch that contains this place
    for (int step = top; step > 0; step /= 2)
      if (b + step <= batches && room[b + step] <= before) before -= room[b += step];
    out[i] = ++b;
    for (; b <= batches; b += b & -b) --room[b];
  }
  return out;
}

// Random numbers in [0, 1) for n units; `first`: number of the first unit among all, from 0.
// [[Rcpp::export]]
Rcpp::NumericVector engine_unit_keys(double first, int n) {
  Rcpp::NumericVector out(n);
  for (int i = 0; i < n; ++i)
    out[i] = Stream(0, Purpose::batches, 1, static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(i))
                 .uniform();
  return out;
}

// Begins to write a spool. sizes: for each batch the number of rows, of groups (0 if rows are not grouped)
// and of entries (of sparse rows).
// [[Rcpp::export]]
SEXP engine_spool_begin(std::string path, int d, bool sparse, bool rows_are_groups,
                        Rcpp::NumericMatrix sizes) {
  return entry([&]() -> SEXP {
    SpoolIndex index;
    index.shape.d = d;
    index.shape.sparse = sparse;
    index.shape.rows_are_groups = rows_are_groups;
    for (int b = 0; b < sizes.nrow(); ++b) {
      index.size.push_back({static_cast<Index>(sizes(b, 0)), static_cast<Index>(sizes(b, 1)),
                            static_cast<Index>(sizes(b, 2))});
      index.shape.n += index.size.back().rows;
      index.shape.n_groups += index.size.back().groups;
    }
    if (!index.grouped()) index.shape.n_groups = 1;
    return Rcpp::XPtr<SpoolWriter>(new SpoolWriter(std::move(path), std::move(index)));
  });
}

// Adds the next rows or groups; batch: for each the number of its batch, from 1.
// [[Rcpp::export]]
void engine_spool_add(SEXP writer, Rcpp::List data, Rcpp::IntegerVector batch) {
  entry([&] {
    const RData rdata(data);
    std::vector<int> from_zero(batch.begin(), batch.end());
    for (int& b : from_zero) --b;
    Rcpp::XPtr<SpoolWriter>(writer)->add(rdata.view(), from_zero.data());
  });
}

// Completes and closes the file; finish = FALSE: removes it.
// [[Rcpp::export]]
void engine_spool_end(SEXP writer, bool finish) {
  entry([&] {
    Rcpp::XPtr<SpoolWriter> held(writer);
    if (finish) held->finish();
    held.release();
  });
}

// n, d, sparse and sizes, as in engine_spool_begin(), and the checksums of the batches as text.
// [[Rcpp::export]]
Rcpp::List engine_spool_index(std::string path) {
  const Spool spool(path);
  const SpoolIndex& index = spool.index();
  Rcpp::NumericMatrix sizes(static_cast<int>(index.size.size()), 3);
  for (int b = 0; b < sizes.nrow(); ++b) {
    sizes(b, 0) = static_cast<double>(index.size[b].rows);
    sizes(b, 1) = static_cast<double>(index.size[b].groups);
    sizes(b, 2) = static_cast<double>(index.size[b].entries);
  }
  Rcpp::CharacterVector sums(sizes.nrow());
  for (int b = 0; b < sizes.nrow(); ++b) sums[b] = std::to_string(index.sum[b]);
  using Rcpp::_;
  return Rcpp::List::create(_["n"] = static_cast<double>(index.shape.n),
                            _["d"] = static_cast<int>(index.shape.d), _["sparse"] = index.shape.sparse,
                            _["sizes"] = sizes, _["sums"] = sums);
}

// Batch number b, from 1, as data in R's form, with the numbers of its rows and groups among all, from 1.
// [[Rcpp::export]]
Rcpp::List engine_spool_batch(std::string path, int b) {
  const Spool spool(path);
  require(1 <= b && b <= static_cast<int>(spool.index().size.size()), "the spool has no such batch");
  const auto held = spool.open(b - 1);
  const Dataset& data = held->data;
  const auto from_one = [](const std::vector<Index>& x) {
    Rcpp::IntegerVector out(static_cast<R_xlen_t>(x.size()));
    std::transform(x.begin(), x.end(), out.begin(), [](Index i) { return static_cast<int>(i) + 1; });
    return out;
  };
  using Rcpp::_;
  Rcpp::List out =
      Rcpp::List::create(_["n"] = static_cast<int>(data.n), _["d"] = static_cast<int>(data.d),
                         _["starts"] = Rcpp::IntegerVector(data.starts.begin(), data.starts.end()),
                         _["rows"] = from_one(held->rows), _["groups"] = from_one(held->groups));
  if (data.sparse()) {
    const int entries = data.row_start[data.n];
    out.push_back(Rcpp::IntegerVector(data.row_start, data.row_start + data.n + 1), "row_start");
    out.push_back(Rcpp::IntegerVector(data.column, data.column + entries), "column");
    out.push_back(Rcpp::NumericVector(data.value, data.value + entries), "value");
  } else {
    Rcpp::NumericMatrix x(static_cast<int>(data.n), static_cast<int>(data.d));
    std::copy(data.dense, data.dense + data.n * data.d, x.begin());
    out.push_back(x, "x");
  }
  return out;
}
