// Learning of topics without a limit on their number (truncation), from one batch of documents after the
// other [Wang & Blei 2012].
#pragma once
#include "foundation/special.h"
#include "sampling/truncation_free.h"
#include "topics/model/documents.h"
#include "topics/sampling/document_draws.h"
#include "topics/streams/running_topics.h"

namespace bnpvi::topics {

/// log Γ(a + n) / Γ(a), the logarithm of the rising factorial a (a + 1) ... (a + n − 1).
inline double log_rising(double a, double n) { return -log_gamma_difference(a, n); }

/// Learns topics from batches of documents. Proportions of documents and parameters of topics are integrated
/// out. In sweeps over a batch, the topic of each observation (token or row) is drawn by direct assignment
/// (document_draws.h), given the statistics of earlier documents and of the batch. After each sweep the
/// numbers of tables m of the batch's documents (in the Chinese restaurant franchise) are drawn, then γ and
/// α, if they are learned, and then the weights of topics
///   β ~ Dirichlet(s_1 + m_1, ..., s_K + m_K, γ).
/// s: numbers of tables of earlier documents, multiplied by the same fading factor as the statistics T of
/// topics. If the number K of topics is given, each has weight 1/K.
class TruncationFreeTopics final : public TruncationFree<Documents> {
 public:
  TruncationFreeTopics(const ObsModel& obs, const TopicPrior& prior, const TruncationFreeOptions& options,
                       std::uint64_t seed, RunningTopics& topics, Pool& pool);

  /// Σ log p̂(document | topics) over documents. p̂ is the sequential estimate from ten draws
  /// (sequential_estimate.h) of the probability of the document's observations in their order. The base
  /// measure is left out.
  double log_predictive(const Documents& documents) const;

  /// Expected weights E π: K + 1 numbers, for the K topics and, last, for all other topics together.
  Vec mean_weights() const;

 protected:
  Vec draw(const Documents& documents, const Faded& earlier, double keep, std::vector<int>& label) override;
  Index units(const Documents& documents) const override { return documents.n_documents(); }
  void remember(const Documents& documents, const std::vector<int>& label, double keep) override;
  bool is_left(Index j, double keep) const override;

  /// Maintains the topics in three steps. First, topics are split. Then the topics of the latest documents
  /// are drawn anew, in `renewals` sweeps given all earlier documents, since less was known when they were
  /// drawn first. Last, topics are removed and merged.
  ///
  /// Splits: W are the latest documents. The observations of a topic in W are clustered (part_chain.h),
  /// tokens by document, rows one by one. The clusters a become topics if several topics are more probable
  /// for these observations than one, that is, if
  ///   Σ_a Λ(T_a) − Λ(T) + Σ_d [Σ_a R_d(a) − R_d] − P > 0,
  /// with R and P as below. The statistics of earlier documents are divided among the new topics
  /// (Documents::divided).
  ///
  /// Merges: joining topics a and b gains
  ///   Λ(T_a + T_b) − Λ(T_a) − Λ(T_b) + P
  ///     + N/|W| {Σ_{d∈W} [R_d(a + b) − R_d(a) − R_d(b)] − Σ_{i∈W} [g(r_ia + r_ib) − g(r_ia) − g(r_ib)]},
  ///   R_d(k) = log Γ(αβ_k + n_dk)/Γ(αβ_k),   g(r) = r log r.
  /// Λ: log evidence of a topic with statistics T; d: documents in W; i: observations in W; |W|: number of
  /// these observations; N: number of all observations; n_dk: observations of topic k in document d; r:
  /// responsibilities of an observation given all others. P is the gain of the prior. For a Dirichlet
  /// process,
  ///   P = −log γ − log B(s_a, s_b) + s_a log v + s_b log(1 − v),   v = s_a/(s_a + s_b),
  /// with s the number of tables of a topic; this is an integral over the parts of a and b in their joint
  /// proportion. With K topics given, L of them in use, P = −log(K − L + 1). Pairs with a gain are joined,
  /// best first, each topic at most once a round, until no pair has a gain.
  void improve() override;

 private:
  struct Pair {
    Index a, b;
    double gain;
  };

  // Results of drawing the topics of the observations in the latest batch.
  struct Drawn {
    std::vector<int> tables;  // for each topic of each of its documents, the number of tables
    Vec all_tables;           // for each topic its number of tables, earlier documents included
    double alpha, gamma;
  };

  bool has_tables() const { return prior_.k == 0 || prior_.learned_alpha; }
  TopWeights draw_weights(const Vec& tables, double gamma, Stream& stream) const;
  // Draws the numbers of tables in the batch's documents (of the Chinese restaurant franchise), then α and γ
  // if they are learned.
  std::vector<int> draw_tables_of(const std::vector<Index>& starts, const std::vector<int>& label,
                                  const Vec& beta, const Vec& earlier, double& alpha, double& gamma,
                                  Stream& stream) const;
  void keep_recent(const Documents& documents, const std::vector<int>& label);
  void renew_recent();
  // Statistics of the topics without the latest observations, K × p: the difference of two sums. If rounding
  // would make the difference too inexact, the topic keeps its whole statistic, and its latest observations
  // lose the topic (label −1).
  Vec statistics_of_earlier(const Documents& latest);
  void split_all();
  // Splits topic j by its observations in the latest documents, if several topics are more probable for these
  // than one.
  void split(Index j, const Documents& latest, Stream& stream);
  std::vector<Pair> pairs_that_gain();
  double prior_gain(Index a, Index b) const;
  Vec latest_shares(const Vec& weight) const;  // responsibilities r of the latest observations: |W| × K
  bool merge_once();

  const TopicPrior prior_;
  RunningTopics& topics_;
  Drawn drawn_;
};

}  // namespace bnpvi::topics
