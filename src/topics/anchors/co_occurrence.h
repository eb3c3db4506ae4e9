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
  std::vector<int> row_start{0};  // documents + 1 offsets
  std::vector<int> column;        // word
  Vec value;                      // expected number of tokens of the word
  Vec square;                     // Σ p² over the tokens of the word, p the probability that a token counts

  Index n() const { return static_cast<Index>(row_start.size()) - 1; }
};

/// All tokens of some rows, or of all sparse rows.
PartialCounts counts_of_rows(const Dataset& data, const std::vector<Index>& rows);
PartialCounts all_counts(const Dataset& data);

/// A d × m matrix B stored by rows, each with `each` entries: all m, or only a few.
struct RowsOfWords {
  Index m = 0, each = 0;
  std::vector<int> place;  // d × each: columns of the entries; empty: all columns, in order
  Vec value;               // d × each

  /// y += x times row v.
  void add(int v, double x, double* y) const {
    if (place.empty()) return kernels().add_sparse_rows(1, m, &v, &x, value.data(), m, y);
    for (Index i = v * each; i < (v + 1) * each; ++i) y[place[i]] += x * value[i];
  }
  void write(Writer& out) const;
  static RowsOfWords read(Reader& in);
};

/// The matrix Q of some of the documents: products with it, and its row sums. Q_vw is the probability that
/// two different tokens of a document are the words v and w; documents are weighted by their numbers of
/// tokens.
class CoOccurrence {
 public:
  CoOccurrence(const PartialCounts& documents, std::vector<Index> which, Index d);

  /// out += Q B for the words that have a row in `out`, number[word] ≥ 0.
  void times(const RowsOfWords& b, const std::vector<int>& number, double* out, Pool& pool) const;
  /// The columns of Q for these words, d × k.
  Vec columns(const std::vector<int>& words) const;

  Vec mass;  // Σ_w Q_vw

 private:
  double weight_of(Index i, double tokens) const;
  const PartialCounts& documents_;
  std::vector<Index> which_;
};

/// Sums over all documents, and over two random halves of them, from which anchor words are found.
class DocumentSums {
 public:
  struct Counts {
    Index n = 0;         // documents
    Vec tokens;          // tokens of each word
    Vec users;           // documents that have the word
    Vec mass;            // CoOccurrence::mass of all documents
    Vec half_a, half_b;  // mass of each half
  };
  virtual ~DocumentSums() = default;
  virtual Counts counts() = 0;
  /// Q B for the words with number[word] ≥ 0: times_by_half(): for both halves, one after the other; times():
  /// for all documents.
  virtual Vec times_by_half(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) = 0;
  virtual Vec times(const RowsOfWords& b, const std::vector<int>& number, Index n_numbers) = 0;
  /// CoOccurrence::columns for all documents.
  virtual Vec columns(const std::vector<int>& words) = 0;
};

/// DocumentSums of documents in memory. half: the half to which each belongs, 0 or 1.
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
