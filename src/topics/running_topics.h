// What is known of the documents of a stream so far.
#pragma once
#include <vector>

#include "foundation/types.h"
#include "inference/identity.h"

namespace bnpvi::topics {

/// Documents with a topic for each token.
struct LabelledDocuments {
  std::vector<int> length;  // tokens of each document
  std::vector<int> word, topic;
};

/// Topics of a stream, a plain value: all that learning from its next batch depends on, beside models,
/// options and seed.
struct RunningTopics {
  Vec t;       // K × (1 + V): tokens of each topic, and of each of its words; whole unless documents fade
  Vec tables;  // K: of the documents (hdp/tables.h); not of models with K given
  std::vector<ClusterIdentity> identity;
  std::uint64_t next_id = 1;
  std::uint64_t batches = 0;  // learned from
  double seen = 0;            // documents, each counted once
  double untended = 0;        // tokens learned from since topics were last merged and removed
  double gamma = 1, alpha = 1;
  // What the documents so far add to shape and rate of the posterior of α [Teh and others 2006, appendix A]:
  // Σ_d (m_d − E s_d) and −Σ_d E log w_d.
  double alpha_shape = 0, alpha_rate = 0;
  LabelledDocuments recent;  // the latest ones, oldest first

  Index k() const { return static_cast<Index>(identity.size()); }
};

}  // namespace bnpvi::topics
