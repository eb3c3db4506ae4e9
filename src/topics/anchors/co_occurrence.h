// Co-occurrences of words in documents, computed without forming the matrix of pairs of words.
#pragma once
#include <vector>

#include "foundation/archive.h"
#include "foundation/data.h"
#include "foundation/pool.h"
#include "foundation/random.h"
#include "kernels/kernels.h"

namespace bnpvi::topics {

/// Counts of words in documents. Counts are expected ones where each token counts only with the probability
/// that it belongs to a certain topic.
struct PartialCounts {
  std::vector<int> row_start{0};  // where the entries of each document begin: documents + 1 offsets
  std::vector<int> column;        // word of each entry
  Vec value;                      // expected number of tokens of each entry's word
  Vec square;  // Σ p² over the tokens of each entry, p the probability that a token counts

  Index n() const { return static_cast<Index>(row_start.size()) - 1; }
};

/// The counts of words in some documents (rows of the data), with every token counted once; the next function
/// returns those of all documents.
PartialCounts counts_of_rows(const Dataset& data, const std::vector<Index>& rows);
PartialCounts all_counts(const Dataset& data);

/// A d × m matrix B with a row for each of d words. Each row stores `each` entries: all m, or only a few.
struct RowsOfWords {
  Index m = 0, each = 0;
  std::vector<int> place;  // d × each: column of each entry; empty: all columns, in order
  Vec value;               // d × each: value of each entry

  /// Adds x times row v of this matrix to y (m numbers).
  void add(int v, double x, double* y) const {
    if (place.empty()) return kernels().add_sparse_rows(1, m, &v, &x, value.data(), m, y);
    for (Index i = v * each; i < (v + 1) * each; ++i) y[place[i]] += x * value[i];
  }
  void write(Writer& out) const;
  static RowsOfWords read(Reader& in);
};

/// The matrix Q of co-occurrence of words in some of the documents. Q_vw is the probability that two
/// different tokens of a document are the words v and w; documents are weighted by their numbers of tokens. Q
/// is never stored. This class computes products with Q, and its row sums.
class CoOccurrence {
 public:
  CoOccurrence(const PartialCounts& documents, std::vector<Index> which, Index d);

  /// Computes the rows of the product Q B (Q: co-occurrence of words) for the words v with number[v] ≥ 0:
  /// adds row v of Q B to row number[v] of `out`.
  void times(const RowsOfWords& b, const std::vector<int>& number, double* out, Pool& pool) const;
  /// The columns of the co-occurrence matrix Q that belong to the k given words, d × k.
  Vec columns(const std::vector<int>& words) const;

  Vec mass;  // row sums of Q: Σ_w Q_vw for each word v

 private:
  double weight_of(Index i, double tokens) const;
  const PartialCounts& documents_;
  std::vector<Index> which_;
};

/// Interface for the sums over all documents, and over two random halves of them, from which anchor words are
/// found.
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
  /// The rows of the product Q B (Q: co-occurrence of words) for the words v with number[v] ≥ 0; row v
  /// becomes row number[v] of the result, which has n_numbers rows. times_by_half() returns two results, one
  /// from each half of the documents; times() returns one, from all documents.
  virtual Vec times_by_half(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) = 0;
  virtual Vec times(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) = 0;
  /// The columns of the co-occurrence matrix Q of all documents that belong to the k given words (d × k).
  virtual Vec columns(const std::vector<int>& words) = 0;
};

/// The sums of DocumentSums for documents in memory. half: for each document the half to which it belongs, 0
/// or 1.
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
