// Co-occurrences of words in documents, computed without forming the matrix of pairs of words.
#pragma once
#include <vector>

#include "foundation/archive.h"
#include "foundation/data.h"
#include "foundation/pool.h"
#include "foundation/random.h"
#include "kernels/kernels.h"

namespace bnpvi::topics {

/// Counts of words in documents. A token may count with a probability p, for example the probability that it
/// belongs to some topic. Counts are then expected numbers of tokens.
struct PartialCounts {
  std::vector<int> row_start{0};  // where the entries of each document begin: documents + 1 offsets
  std::vector<int> column;        // word of each entry
  Vec value;                      // expected number of tokens of each entry's word
  Vec square;  // Σ p² over the tokens of each entry, p the probability that a token counts

  Index n() const { return static_cast<Index>(row_start.size()) - 1; }
};

/// Counts of words in some documents (numbers of rows of the data); every token counts once. The next
/// function counts the words in all documents.
PartialCounts counts_of_rows(const Dataset& data, const std::vector<Index>& rows);
PartialCounts all_counts(const Dataset& data);

/// A d × m matrix B with a row for each of d words. Each row stores a number `each` of entries: all m
/// entries, or only a few.
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

/// The matrix Q of co-occurrence of words in some documents. Q_vw is the probability that two different
/// tokens of a document are the words v and w; each document has a weight proportional to its number of
/// tokens. Q is not stored. This class computes products with Q, and row sums of Q.
class CoOccurrence {
 public:
  CoOccurrence(const PartialCounts& documents, std::vector<Index> which, Index d);

  /// Computes rows of the product Q B (Q: co-occurrence of words), for the words v with number[v] ≥ 0. Adds
  /// row v of Q B to row number[v] of `out`.
  void times(const RowsOfWords& b, const std::vector<int>& number, double* out, Pool& pool) const;
  /// The columns of the co-occurrence matrix Q for k given words, d × k.
  Vec columns(const std::vector<int>& words) const;

  Vec mass;  // row sums of Q: Σ_w Q_vw for each word v

 private:
  double weight_of(Index i, double tokens) const;
  const PartialCounts& documents_;
  std::vector<Index> which_;
};

/// Interface of the sums from which anchor words are found: sums over all documents, and over two random
/// halves of the documents.
class DocumentSums {
 public:
  struct Counts {
    Index n = 0;         // number of documents
    Vec tokens;          // number of tokens of each word
    Vec users;           // for each word, the number of documents that have it
    Vec mass;            // row sums of Q (CoOccurrence::mass) over all documents
    Vec half_a, half_b;  // row sums of Q over each half of the documents
  };
  virtual ~DocumentSums() = default;
  virtual Counts counts() = 0;
  /// Rows of the product Q B (Q: co-occurrence of words), for the words v with number[v] ≥ 0. Row v of Q B
  /// becomes row number[v] of a result with n_numbers rows. times() returns one such result, from all
  /// documents. times_by_half() returns two, one from each half of the documents.
  virtual Vec times_by_half(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) = 0;
  virtual Vec times(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) = 0;
  /// The columns of the co-occurrence matrix Q of all documents for k given words, d × k.
  virtual Vec columns(const std::vector<int>& words) = 0;
};

/// The sums of DocumentSums for documents in memory. half: 0 or 1 for each document, the half to which it
/// belongs.
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
