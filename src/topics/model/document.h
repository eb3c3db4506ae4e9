// A single document in the form used to find its topics.
#pragma once
#include <memory>

#include "inference/data/share_table.h"
#include "observations/feature_block.h"

namespace bnpvi::topics {

/// Expected log-likelihoods C of rows (word types, or rows of data) under K topics. c_uk, of row u under
/// topic k, is at[u row_step + k topic_step].
struct TopicLogs {
  const double* at = nullptr;
  Index row_step = 0, topic_step = 1;

  double operator()(Index row, Index topic) const { return at[row * row_step + topic * topic_step]; }
};

/// A table of expected log-likelihoods C of rows under topics. If `e` is not empty, it has E = exp(C − max_k
/// C), so that iterations for a document need no exponentials. Rows are the word types of the vocabulary
/// (documents of counts), or the rows of one document (other data).
struct TopicTable {
  Index k = 0;
  TopicLogs c;
  Buffer e;  // E = exp(C − max_k C), rows × k; or empty
  Vec top;   // max_k C for each row; empty without e

  /// The table of the log likelihoods C of all word types in all topics, for a model whose weights are C
  /// itself. The table points to the weights. exponentials: whether E is computed, too.
  TopicTable(const Weights& weights, bool exponentials, Pool* pool = nullptr);
  TopicTable() = default;

  void exponentiate(Index rows, Pool* pool = nullptr);  // fills e and top
};

/// A document as the rows of a table: row u stands for weight_u tokens that share their responsibilities.
struct DocumentView {
  Index n = 0;
  Index k = 0;
  TopicLogs c_table;
  const double* e = nullptr;         // rows of E = exp(C − max_k C); nullptr: not computed
  const int* row = nullptr;          // word type of u, a row of `e`; nullptr: u itself
  const int* c_row = nullptr;        // row of c_table that belongs to u; nullptr: u itself
  const double* weight = nullptr;    // number of tokens of each row; nullptr: all 1
  double length = 0;                 // number of tokens, Σ_u weight_u
  double times = 1;                  // weight of the document: how often it counts
  const double* response = nullptr;  // responses and covariates (ResponseModel::n_values); nullptr: none
  const double* local = nullptr;     // local numbers of the last visit (ResponseModel); nullptr: none
  const std::vector<int>* allowed = nullptr;  // topics that it may use, ascending; nullptr: all
  /// The weights of the topics at the visit that gives C. What a row hides (ExpectedCells) has its
  /// expectation under them. nullptr: the expectation is that of a cluster without data.
  const Weights* weights = nullptr;

  double c(Index u, Index topic) const { return c_table(c_row ? c_row[u] : u, topic); }
  double count(Index u) const { return weight ? weight[u] : 1.0; }
};

/// Appends the expected log-likelihoods of a document to c. For each of its shares (the topics that it uses)
/// these are the values of all its rows under this topic.
void append_logs(const DocumentView& view, Shares share, Vec& c);

/// Whether every row of the data is a document of counts, whose tokens may have different topics.
bool rows_are_documents(const ObsModel& obs, const DataShape& data);

/// Loads documents one after the other, as views for the computations on a single document; for one thread.
class DocumentReader {
 public:
  DocumentReader(const ObsModel& obs, const Dataset& data);

  /// Loads the rows of a document without their expected log-likelihoods C.
  DocumentView load_rows(Index document);

  /// Loads a document under these weights of topics. A document of counts uses the table `shared`. For other
  /// documents a table is computed from the weights.
  DocumentView load(Index document, const Weights& weights, const TopicTable* shared, bool exponentials);

  /// Loads a document with the expected log-likelihoods C of its last visit, which are stored in `memory`.
  /// at: the number of the document in `memory`. C has columns only for the topics that the document used.
  DocumentView recall(Index document, const ShareTable& memory, Index at);

  /// The number of rows in the view of this document that load() returns: word types, or rows of data.
  Index n_rows(Index document) const;

  /// Prefetches into the processor's cache a document of counts that will be loaded soon.
  void expect(Index document) const;

  bool by_term() const { return by_term_; }
  FeatureBlock& block() { return block_; }
  /// Numbers, in the data, of the rows of the loaded document (a document of counts is one row).
  const std::vector<Index>& rows() const { return rows_; }

 private:
  const Dataset& data_;
  bool by_term_;
  FeatureBlock block_;
  std::vector<Index> rows_;
  TopicTable own_;
  Vec c_;
};

}  // namespace bnpvi::topics
