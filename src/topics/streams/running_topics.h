// The state of truncation-free learning of topics from a stream of documents.
#pragma once
#include "inference/learn/running_state.h"

namespace bnpvi::topics {

/// Documents whose observations (tokens or rows) have a topic each; topic −1: the topic no longer exists.
struct LabelledDocuments {
  std::vector<int> length;  // number of observations of each document
  Vec mass;                 // for each document, the weight of its observations: 1 at first, later faded
  std::vector<int> word;    // word of each token; empty for rows
  std::vector<int> topic;   // topic of each observation
  // for each topic in a document, its number of tables, stored at its first observation; 0 at all others
  std::vector<int> tables;
  Vec phi;  // features of each row, n × p; empty for tokens

  Index n() const { return static_cast<Index>(topic.size()); }
};

/// What is known of the topics of a stream so far. Together with the models, the options and the seed it
/// determines what is learned from the next batch.
struct RunningTopics : RunningState {
  // for each of K topics, its number of tables in all documents (hdp/tables.h); unused if K is given
  Vec tables;
  double gamma = 1, alpha = 1;
  // What the documents so far add to shape and rate of the posterior of the concentration α [Teh and others
  // 2006, appendix A]: Σ_d (m_d − E s_d) to the shape, −Σ_d E log w_d to the rate. m_d: number of tables of
  // document d in the Chinese restaurant franchise; s_d, w_d: its auxiliary variables.
  double alpha_shape = 0, alpha_rate = 0;
  LabelledDocuments recent;  // the latest documents, oldest first

  void keep(const std::vector<Index>& kept) override;
  void join(Index a, Index b) override;
};

}  // namespace bnpvi::topics
