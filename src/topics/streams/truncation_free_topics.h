// Truncation-free learning of topics (without a limit on their number), one batch of documents after the
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

/// Learns topics from batches of documents. The observations of a batch, tokens or rows, are labelled by
/// direct assignment (document_draws.h), given the statistics of earlier documents and of the batch;
/// proportions of documents and parameters of topics are integrated out. After each sweep the numbers m of
/// tables of the batch's documents (in the Chinese restaurant franchise) are drawn, then γ and α, where they
/// are learned, and
///   β ~ Dirichlet(s_1 + m_1, ..., s_K + m_K, γ),
/// where s are the tables of earlier documents, which are multiplied by the same fading factor as the
/// statistics T. Topics of a model with K given have weight 1/K each.
class TruncationFreeTopics final : public TruncationFree<Documents> {
 public:
  TruncationFreeTopics(const ObsModel& obs, const TopicPrior& prior, const TruncationFreeOptions& options,
                       std::uint64_t seed, RunningTopics& topics, Pool& pool);

  /// Σ log p̂(document | topics) over documents, where p̂ is the sequential estimate from ten draws
  /// (sequential_estimate.h) of the probability of the observations as a sequence, without the base measure.
  double log_predictive(const Documents& documents) const;

  /// Expected weights E π of the K topics and, last, of all other topics together: K + 1 numbers.
  Vec mean_weights() const;

 protected:
  Vec draw(const Documents& documents, const Faded& earlier, double keep, std::vector<int>& label) override;
  Index units(const Documents& documents) const override { return documents.n_documents(); }
  void remember(const Documents& documents, const std::vector<int>& label, double keep) override;
  bool is_left(Index j, double keep) const override;

  /// Maintains the topics: splits topics; draws the topics of the latest documents anew, in `renewals` sweeps
  /// given all earlier documents (these topics were drawn when less was known); then removes and merges
  /// topics.
  ///
  /// Splits: a topic's observations in the latest documents W are clustered (part_chain.h), tokens by
  /// document, rows one by one. The clusters a become topics if several topics are more probable for these
  /// observations than one, that is, if
  ///   Σ_a Λ(T_a) − Λ(T) + Σ_d [Σ_a R_d(a) − R_d] − P > 0,
  /// with R and P as below. The statistics of earlier documents are divided among the new topics
  /// (Documents::divided).
  ///
  /// Merges: joining topics a and b gains
  ///   Λ(T_a + T_b) − Λ(T_a) − Λ(T_b) + P
  ///     + N/|W| {Σ_{d∈W} [R_d(a + b) − R_d(a) − R_d(b)] − Σ_{i∈W} [g(r_ia + r_ib) − g(r_ia) − g(r_ib)]},
  ///   R_d(k) = log Γ(αβ_k + n_dk)/Γ(αβ_k),   g(r) = r log r,
  /// with d the documents and i the observations in W, r responsibilities of an observation given all others,
  /// and N the number of all observations. P is the gain of the prior. For a Dirichlet process, with s the
  /// tables of a topic and v = s_a/(s_a + s_b), it is −log γ − log B(s_a, s_b) + s_a log v + s_b log(1 − v),
  /// from the integral over the shares of a and b in their joint proportion; with K topics given, of which L
  /// are in use, it is −log(K − L + 1). Pairs that gain are joined, best first, each topic at most once a
  /// round, until no pair gains.
  void improve() override;

 private:
  struct Pair {
    Index a, b;
    double gain;
  };

  // Results of drawing the topics of the latest batch.
  struct Drawn {
    std::vector<int> tables;  // number of tables of its documents' topics
    Vec all_tables;           // number of tables of each topic, earlier documents included
    double alpha, gamma;
  };

  bool has_tables() const { return prior_.k == 0 || prior_.learned_alpha; }
  TopWeights draw_weights(const Vec& tables, double gamma, Stream& stream) const;
  // Draws the numbers of tables in the batch's documents (as in a Chinese restaurant franchise), then α and γ
  // where they are learned.
  std::vector<int> draw_tables_of(const std::vector<Index>& starts, const std::vector<int>& label,
                                  const Vec& beta, const Vec& earlier, double& alpha, double& gamma,
                                  Stream& stream) const;
  void keep_recent(const Documents& documents, const std::vector<int>& label);
  void renew_recent();
  // Statistics of the topics without the latest observations, K × p. Where rounding would make the difference
  // too inexact, the topic is taken from the latest observations instead (label −1), so that its statistic
  // stays whole.
  Vec statistics_of_earlier(const Documents& latest);
  void split_all();
  // Splits topic j by its observations in the latest documents, if these are more probable as several topics.
  void split(Index j, const Documents& latest, Stream& stream);
  std::vector<Pair> pairs_that_gain();
  double prior_gain(Index a, Index b) const;
  Vec latest_shares(const Vec& weight) const;  // responsibilities r of the latest observations, |W| × K
  bool merge_once();

  const TopicPrior prior_;
  RunningTopics& topics_;
  Drawn drawn_;
};

}  // namespace bnpvi::topics
