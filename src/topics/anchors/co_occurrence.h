// Co-occurrences of words in documents, computed without forming the matrix of pairs of words.
#pragma once
#include <vector>

#include "foundation/archive.h"
#include "foundation/data.h"
#include "foundation/pool.h"
#include "foundation/random.h"
#include "kernels/kernels.h"

namespace bnpvi::topics {

/// Counts of words in documents, or expected counts when each token counts with the probability that it
/// belongs to a certain topic.
struct PartialCounts {
  std::vector<int> row_start{0};  // where the entries of each document begin: documents + 1 offsets
  std::vector<int> column;        // word of each entry
  Vec value;                      // expected number of tokens of each entry's word
  Vec square;  // Σ p² over the tokens of each entry, p the probability that a token counts

  Index n() const { return static_cast<Index>(row_start.size()) - 1; }
};

/// The counts of some rows, or of all sparse rows, with every token counted once.
PartialCounts counts_of_rows(const Dataset& data, const std::vector<Index>& rows);
PartialCounts all_counts(const Dataset& data);

/// A d × m matrix B stored by rows, each with `each` entries: all m, or only a few.
struct RowsOfWords {
  Index m = 0, each = 0;
  std::vector<int> place;  // d × each: column of each entry; empty: all columns, in order
  Vec value;               // d × each: value of each entry

  /// Adds x times row v of B to y (m numbers).
  void add(int v, double x, double* y) const {
    if (place.empty()) return kernels().add_sparse_rows(1, m, &v, &x, value.data(), m, y);
    for (Index i = v * each; i < (v + 1) * each; ++i) y[place[i]] += x * value[i];
  }
  void write(Writer& out) const;
  static RowsOfWords read(Reader& in);
};

/// The matrix Q of co-occurrence in some of the documents: products with Q, and its row sums. Q_vw is the
/// probability that two different tokens of a document are the words v and w; documents are weighted by their
/// numbers of tokens.
class CoOccurrence {
 public:
  CoOccurrence(const PartialCounts& documents, std::vector<Index> which, Index d);

  /// Computes rows of the product Q B, for the words v with number[v] ≥ 0: row v of Q B is added to row
  /// number[v] of `out`.
  void times(const RowsOfWords& b, const std::vector<int>& number, double* out, Pool& pool) const;
  /// The columns of Q that belong to these words, d × k.
  Vec columns(const std::vector<int>& words) const;

  Vec mass;  // row sums of Q: Σ_w Q_vw for each word v

 private:
  double weight_of(Index i, double tokens) const;
  const PartialCounts& documents_;
  std::vector<Index> which_;
};

/// Sums over all documents, and over two random halves of them, from which anchor words are found.
class DocumentSums {
 public:
  struct Counts {
    Index n = 0;         // number of documents
    Vec tokens;          // number of tokens of each word
    Vec users;           // number of documents that have each word
    Vec mass;            // CoOccurrence::mass, over all documents
    Vec half_a, half_b;  // CoOccurrence::mass, over each half
  };
  virtual ~DocumentSums() = default;
  virtual Counts counts() = 0;
  /// Rows of Q B for the words v with number[v] ≥ 0, row number[v] for each; n_numbers rows. times_by_half()
  /// returns those of both halves, one after the other; times() those for all documents.
  virtual Vec times_by_half(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) = 0;
  virtual Vec times(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) = 0;
  /// The columns of Q, over all documents, that belong to these words (d × k).
  virtual Vec columns(const std::vector<int>& words) = 0;
};

/// DocumentSums of documents in memory. half: for each document the half to which it belongs, 0 or 1.
class SumsOfCounts final : public DocumentSums {
 public:
  SumsOfCounts(const PartialCounts& documents, const std::vector<int>& half, Index d, Pool& pool);
  Counts counts() override;
  Vec times_by_half(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) override;
  Vec times(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) override;
  Vec columns(const std::vector<int>& words) override { return all_.columns(words); }

 private:
  const PartialCounts& documents_;
  const Index d_;
  Pool& pool_;
  const CoOccurrence all_, half_a_, half_b_;
};

}  // namespace bnpvi::topics
