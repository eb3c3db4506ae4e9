// The state of truncation-free learning of topics from a stream of documents.
#pragma once
#include "inference/learn/running_state.h"

namespace bnpvi::topics {

/// Documents with a topic for each observation (token or row); −1 where the topic no longer exists.
struct LabelledDocuments {
  std::vector<int> length;  // number of observations of each document
  Vec mass;                 // weight of the observations of each document: 1 at first, then faded
  std::vector<int> word;    // word of each token; empty for rows
  std::vector<int> topic;   // topic of each observation
  std::vector<int> tables;  // number of tables of a document's topic, at its first observation; 0 elsewhere
  Vec phi;                  // features of each row, n × p; empty for tokens

  Index n() const { return static_cast<Index>(topic.size()); }
};

/// What is known of the topics of a stream so far. With models, options and seed it determines what is
/// learned from the next batch.
struct RunningTopics : RunningState {
  Vec tables;  // numbers of tables of the K topics in all documents (hdp/tables.h); unused with K given
  double gamma = 1, alpha = 1;
  // What the documents so far add to the shape and to the rate of the posterior of the concentration α: Σ_d
  // (m_d − E s_d) and −Σ_d E log w_d [Teh and others 2006, appendix A]. m_d: number of tables (of a Chinese
  // restaurant franchise) in document d; s_d, w_d: its auxiliary variables.
  double alpha_shape = 0, alpha_rate = 0;
  LabelledDocuments recent;  // the latest documents, oldest first

  void keep(const std::vector<Index>& kept) override;
  void join(Index a, Index b) override;
};

}  // namespace bnpvi::topics
