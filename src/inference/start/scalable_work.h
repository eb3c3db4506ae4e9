// What a pass of scalable k-means++ does with one batch.
#pragma once
#include <memory>

#include "inference/learn/batch_work.h"

namespace bnpvi {

/// Rows as candidates for centres.
struct Candidates {
  Sample rows;
  Index round = 0;  // passes that chose them
  Index draws = 0;  // to be chosen in this pass
  unsigned long long seed = 0;
};

/// A row that was drawn.
struct DrawnRow {
  double key;               // smaller is earlier
  Index number, batch, at;  // among all rows; its batch, and where it is in the data of that
};

/// Leaves the `most` rows that come first, in their order.
void keep_first(std::vector<DrawnRow>& rows, Index most);

/// How far the rows of a batch are from the candidates, and a draw of rows without replacement, with
/// probabilities proportional to mass × divergence to the nearest candidate (to the mass where there is none
/// yet): the rows with the smallest keys, exponential variates divided by that product [Efraimidis and
/// Spirakis 2006]. The variates depend on seed, round and number of the row alone, so that the rows drawn
/// from several batches are the first of all their draws, however rows are dealt to batches.
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
  Vec mass;              // of the rows nearest to each candidate
  double potential = 0;  // Σ mass × divergence to the nearest candidate

 private:
  std::shared_ptr<const Candidates> candidates_;
};

/// Clusters of rows by which new ones are assigned.
struct Centres {
  Index k = 0;
  Vec w;  // k × p: ObsModel::point_estimate, with the logarithm of the cluster's mass
};

/// Statistics of the rows of a batch that are nearest to each centre.
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

  Vec t;  // k × p

 private:
  std::shared_ptr<const Centres> centres_;
};

}  // namespace bnpvi
