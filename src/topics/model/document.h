// One document in the form that the local step of a topic model uses.
#pragma once
#include <memory>

#include "inference/data/share_table.h"
#include "observations/feature_block.h"

namespace bnpvi::topics {

/// Expected log-likelihoods C of rows under K topics: c_uk = at[u row_step + k topic_step].
struct TopicLogs {
  const double* at = nullptr;
  Index row_step = 0, topic_step = 1;

  double operator()(Index row, Index topic) const { return at[row * row_step + topic * topic_step]; }
};

/// The table of C and, when `e` is not empty, E = exp(C − max_k C), so that rounds of a local step need no
/// exponentials. Rows are the word types of the vocabulary (counts) or the rows of one document (anything
/// else).
struct TopicTable {
  Index k = 0;
  TopicLogs c;
  Buffer e;  // rows × k, or empty
  Vec top;   // max_k C of each row; empty without e

  /// The table of all word types under the weights of a linear model; c points into the weights.
  TopicTable(const Weights& weights, bool exponentials, Pool* pool = nullptr);
  TopicTable() = default;

  void exponentiate(Index rows, Pool* pool = nullptr);  // fills e and top
};

/// The rows of one document in a table: row u stands for weight_u tokens that share their responsibilities.
struct DocumentView {
  Index n = 0;
  Index k = 0;
  TopicLogs c_table;
  const double* e = nullptr;         // rows of exponentials; nullptr: not computed
  const int* row = nullptr;          // word type of u, a row of `e`; nullptr: u itself
  const int* c_row = nullptr;        // row of c_table that belongs to u; nullptr: u itself
  const double* weight = nullptr;    // nullptr: all 1
  double length = 0;                 // Σ_u weight_u
  double times = 1;                  // weight of the document: how often it counts
  const double* response = nullptr;  // its responses and covariates (ResponseModel::n_values); nullptr: none
  const double* local = nullptr;     // local numbers of its last visit (ResponseModel); nullptr: none
  const std::vector<int>* allowed = nullptr;  // topics that it may use, ascending; nullptr: all

  double c(Index u, Index topic) const { return c_table(c_row ? c_row[u] : u, topic); }
  double count(Index u) const { return weight ? weight[u] : 1.0; }
};

/// Appends to c, for one share (a topic that the document uses) after the other, the C of all rows of the
/// view in the share's column.
void append_logs(const DocumentView& view, Shares share, Vec& c);

/// True when every row is a document whose tokens may have different topics.
bool rows_are_documents(const ObsModel& obs, const DataShape& data);

/// Loads documents, for one thread.
class DocumentReader {
 public:
  DocumentReader(const ObsModel& obs, const Dataset& data);

  /// Loads a document. Documents of counts use rows of the shared table; for others, their own table is
  /// computed from the weights.
  DocumentView load(Index document, const Weights& weights, const TopicTable* shared, bool exponentials);

  /// Loads a document with the C of its last visit, unit `at` of the memory: C then has the columns of the
  /// unit's shares only.
  DocumentView recall(Index document, const ShareTable& memory, Index at);

  /// Number of rows of the document's view.
  Index n_rows(Index document) const;

  /// Prefetches a document of counts that will be loaded soon.
  void expect(Index document) const;

  bool by_term() const { return by_term_; }
  FeatureBlock& block() { return block_; }
  /// Row numbers of the loaded document (a document of counts is one row).
  const std::vector<Index>& rows() const { return rows_; }

 private:
  DocumentView rows_of(Index document);  // without its C

  const ObsModel& obs_;
  const Dataset& data_;
  bool by_term_;
  FeatureBlock block_;
  std::vector<Index> rows_;
  TopicTable own_;
  Vec c_;
};

}  // namespace bnpvi::topics
