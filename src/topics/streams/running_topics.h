// What is known of the documents of a stream so far.
#pragma once
#include "inference/learn/running_state.h"

namespace bnpvi::topics {

/// Documents with a topic for each observation, or −1 where that topic is gone.
struct LabelledDocuments {
  std::vector<int> length;  // observations of each document
  Vec mass;                 // of an observation of each document: what is left of the 1 that it came with
  std::vector<int> word;    // of each token; of rows none
  std::vector<int> topic;   // of each observation
  std::vector<int> tables;  // of a document's topic, at the first of its observations; 0 at all others
  Vec phi;                  // features of each row, n × p; of tokens none

  Index n() const { return static_cast<Index>(topic.size()); }
};

/// Topics of a stream, a plain value: all that learning from its next batch depends on, beside models,
/// options and seed.
struct RunningTopics : RunningState {
  Vec tables;  // K: of the documents (hdp/tables.h); not of models with K given
  double gamma = 1, alpha = 1;
  // What the documents so far add to shape and rate of the posterior of α [Teh and others 2006, appendix A]:
  // Σ_d (m_d − E s_d) and −Σ_d E log w_d.
  double alpha_shape = 0, alpha_rate = 0;
  LabelledDocuments recent;  // the latest ones, oldest first

  void keep(const std::vector<Index>& kept) override;
  void join(Index a, Index b) override;
};

}  // namespace bnpvi::topics
