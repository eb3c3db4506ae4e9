// Truncation-free learning of topics, one batch of documents after the other [Wang & Blei 2012].
#pragma once
#include "foundation/special.h"
#include "sampling/truncation_free.h"
#include "topics/model/documents.h"
#include "topics/sampling/document_draws.h"
#include "topics/streams/running_topics.h"

namespace bnpvi::topics {

/// log Γ(a + n) / Γ(a).
inline double log_rising(double a, double n) { return -log_gamma_difference(a, n); }

/// The observations of a batch, tokens or rows, are labelled by direct assignment (document_draws.h) with the
/// statistics of earlier documents beside those of the batch; proportions of documents and parameters of
/// topics are integrated out.
/// After each sweep come the tables of the batch's documents, γ and α where they are learned, and
///   β ~ Dirichlet(s_1 + m_1, ..., s_K + m_K, γ),
/// s being the tables of earlier documents, which fade as T does. Topics of a model with K given have weight
/// 1/K each.
class TruncationFreeTopics final : public TruncationFree<Documents> {
 public:
  TruncationFreeTopics(const ObsModel& obs, const TopicPrior& prior, const TruncationFreeOptions& options,
                       std::uint64_t seed, RunningTopics& topics, Pool& pool);

  /// Σ log p̂(document | topics) over documents, as sequences of observations, base measure left out:
  /// sequential estimates of ten draws.
  double log_predictive(const Documents& documents) const;

  /// E π of the topics and, last, of all others: K + 1 numbers.
  Vec mean_weights() const;

 protected:
  Vec draw(const Documents& documents, const Faded& earlier, double keep, std::vector<int>& label) override;
  Index units(const Documents& documents) const override { return documents.n_documents(); }
  void remember(const Documents& documents, const std::vector<int>& label, double keep) override;
  bool is_left(Index j, double keep) const override;

  /// Splits topics, draws the latest documents' topics anew (`renewals` sweeps given all earlier ones: they
  /// were drawn when less was known), removes and merges topics.
  ///
  /// A topic's observations in the latest documents are clustered (part_chain.h): tokens by document, rows
  /// one by one. The clusters become topics if that is more probable for these observations:
  ///   Σ_a Λ(T_a) − Λ(T) + Σ_d [Σ_a R_d(a) − R_d] − P,
  /// in terms of what follows. What earlier documents have is divided among them (Documents::divided).
  ///
  /// Joining a and b gains
  ///   Λ(T_a + T_b) − Λ(T_a) − Λ(T_b) + P
  ///     + N/|W| {Σ_{d∈W} [R_d(a + b) − R_d(a) − R_d(b)] − Σ_{i∈W} [g(r_ia + r_ib) − g(r_ia) − g(r_ib)]},
  ///   R_d(k) = log Γ(αβ_k + n_dk)/Γ(αβ_k),   g(r) = r log r,
  /// W being the latest documents and their observations, r responsibilities given all others, N all
  /// observations. P is the prior's: with v = s_a/(s_a + s_b), −log γ − log B(s_a, s_b) + s_a log v + s_b
  /// log(1 − v), from the integral over the shares of a and b of their joint proportion; with K topics given
  /// of which L are in use, −log(K − L + 1). Pairs that gain are joined, best first, each topic once a
  /// round, until none does.
  void improve() override;

 private:
  struct Pair {
    Index a, b;
    double gain;
  };

  // The latest batch, when its topics were drawn.
  struct Drawn {
    std::vector<int> tables;  // of its documents
    Vec all_tables;           // of topics, earlier documents included
    double alpha, gamma;
  };

  bool has_tables() const { return prior_.k == 0 || prior_.learned_alpha; }
  TopWeights draw_weights(const Vec& tables, double gamma, Stream& stream) const;
  // Tables of the batch's documents; then α and γ are drawn, where they are learned.
  std::vector<int> draw_tables_of(const std::vector<Index>& starts, const std::vector<int>& label,
                                  const Vec& beta, const Vec& earlier, double& alpha, double& gamma,
                                  Stream& stream) const;
  void keep_recent(const Documents& documents, const std::vector<int>& label);
  void renew_recent();
  // Statistics without the latest observations, K × p. Those of a topic from which they cannot be taken out,
  // as rounding would spoil what is left, have none from now on.
  Vec statistics_of_earlier(const Documents& latest);
  void split_all();
  // By its observations in the latest documents, if these are more probable as several topics.
  void split(Index j, const Documents& latest, Stream& stream);
  std::vector<Pair> pairs_that_gain();
  double prior_gain(Index a, Index b) const;
  Vec latest_shares(const Vec& weight) const;  // r of the latest observations, |W| × K
  bool merge_once();

  const TopicPrior prior_;
  RunningTopics& topics_;
  Drawn drawn_;
};

}  // namespace bnpvi::topics
