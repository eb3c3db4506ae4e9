// Entries for tests: spools that are truncated or changed.
#include <algorithm>
#include <filesystem>
#include <numeric>

#include "foundation/checksum.h"
#include "foundation/utf8_path.h"
#include "inference/data/spool.h"
#include "inference/data/spool_index.h"
#include "r_convert.h"
#include "r_testing_entries.h"

using namespace bnpvi;

namespace {

// Opens a spool, truncates the file to `size` bytes, and reads the numbers of batch b (from 1). Returns
// their sum, or throws the resulting error.
double engine_spool_cut(std::string path, int b, double size) {
  return entry([&] {
    const Spool spool(path);
    const auto held = spool.open(b - 1);
    std::filesystem::resize_file(utf8_path(path), static_cast<std::uintmax_t>(size));
    const double* x = held->data.sparse() ? held->data.value : held->data.dense;
    const Index n = held->data.sparse() ? held->data.row_start[held->data.n] : held->data.n * held->data.d;
    const double sum = std::accumulate(x, x + n, 0.0);
    spool.check();
    return sum;
  });
}

// The bytes of a spool whose batches were changed, with checksums that match the changed batches.
Rcpp::RawVector engine_with_sums(Rcpp::RawVector bytes) {
  const char* from = reinterpret_cast<const char*>(bytes.begin());
  SpoolIndex index = read_end_of_spool("", from, bytes.size());
  const std::vector<std::int64_t> offsets = index.offsets();
  for (std::size_t b = 0; b < index.size.size(); ++b)
    index.sum[b] = sum_of_words(from + offsets[b], SpoolArrays(index, index.size[b]).end, 0);
  const std::string end = end_of_spool(index);
  Rcpp::RawVector out = Rcpp::clone(bytes);
  std::copy(end.begin(), end.end(), out.begin() + offsets.back());
  return out;
}

const testing::Entry entries[] = {
    {"engine_spool_cut", {"path", "b", "size"}, engine_spool_cut},
    {"engine_with_sums", {"bytes"}, engine_with_sums},
};

}  // namespace
