// What scalable k-means++ computes for one batch in one pass over the batches.
#pragma once
#include <memory>

#include "inference/learn/batch_work.h"

namespace bnpvi {

/// The rows that scalable k-means++ has drawn so far as candidates for centres of clusters.
struct Candidates {
  Sample rows;
  Index round = 0;  // number of passes that have drawn the rows
  Index draws = 0;  // number of rows to be drawn in this pass
  unsigned long long seed = 0;
};

/// A row of a batch that was drawn as a candidate for a centre.
struct DrawnRow {
  double key;               // rows with smaller keys come first
  Index number, batch, at;  // number among all rows; its batch; its number in the data of the batch
};

/// Keeps only the `most` rows with the smallest keys, and sorts them by key.
void keep_first(std::vector<DrawnRow>& rows, Index most);

/// Computes how far the rows of a batch are from the candidates, and draws rows without replacement. The
/// probability of a row is proportional to mass × divergence to the nearest candidate, or to its mass if
/// there is no candidate yet. Each row gets a key, an exponential variate divided by this product; the rows
/// with the smallest keys are drawn [Efraimidis and Spirakis 2006]. The variate depends only on the seed, the
/// round and the number of the row. So the rows with the smallest keys of all batches do not depend on how
/// rows are divided into batches.
class DrawRowsWork final : public BatchWork {
 public:
  DrawRowsWork(Index batch, std::shared_ptr<const Candidates> candidates)
      : BatchWork(batch, nullptr), candidates_(std::move(candidates)) {}
  DrawRowsWork(Index batch, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  std::string kind() const override { return "draw_rows"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override;
  void read_result(Reader& in) override;

  std::vector<DrawnRow> drawn;
  Vec mass;              // for each candidate the mass of the rows nearest to it
  double potential = 0;  // Σ mass × divergence to the nearest candidate

 private:
  std::shared_ptr<const Candidates> candidates_;
};

/// The centres of clusters to which rows are assigned.
struct Centres {
  Index k = 0;
  Vec w;  // k × p: ObsModel::point_estimate() of each cluster, with the logarithm of its mass added
};

/// Assigns each row of a batch to the nearest of these centres, and sums the statistics of the rows of each
/// centre.
class NearestWork final : public BatchWork {
 public:
  NearestWork(Index batch, std::shared_ptr<const Centres> centres)
      : BatchWork(batch, nullptr), centres_(std::move(centres)) {}
  NearestWork(Index batch, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  std::string kind() const override { return "nearest"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override { out.list(t); }
  void read_result(Reader& in) override { t = in.list<Vec>(); }

  Vec t;  // statistics of the clusters, k × p

 private:
  std::shared_ptr<const Centres> centres_;
};

}  // namespace bnpvi
