// Topic models: documents share topics, and each document d has its own proportions π_d of them.
#pragma once
#include "hdp/concentration.h"
#include "hdp/dirichlet_rows.h"
#include "hdp/top_concentration.h"
#include "inference/learn/alloc_capabilities.h"
#include "topics/model/document_step.h"
#include "topics/model/topic_sum.h"
#include "topics/model/topic_tilt.h"
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// Makes the topic model whose prior is a hierarchical Dirichlet process [Hughes 2016, ch. 5]. Sticks u_k ~
/// Beta(1, γ) give the weights π of topics, and document d has proportions π_d ~ Dirichlet(απ).
std::unique_ptr<AllocModel> make_hdp_topics(const TopConcentration& gamma, const Concentration& alpha,
                                            RowBound bound, const Sparsity& sparsity,
                                            std::shared_ptr<const ResponseModel> response = nullptr);

/// Makes the topic model with a hierarchical Dirichlet process in which the proportions of a document also
/// depend on its covariate pattern (topic_tilt.h). Of the two bounds of the top level it uses the tight one
/// (RowBound).
std::unique_ptr<AllocModel> make_tilted_topics(const TopicTilt& tilt, double gamma, const Sparsity& sparsity);

/// Makes the topic model of latent Dirichlet allocation: documents have proportions π_d ~ Dirichlet(α/K, ...,
/// α/K) of K topics.
std::unique_ptr<AllocModel> make_lda(Index k, const Concentration& alpha, const Sparsity& sparsity,
                                     std::shared_ptr<const ResponseModel> response = nullptr);

/// The result of the last visit of a document, from which the next visit starts. The shares (the document's
/// topics with their counts, share_table.h) are empty when the document has not been visited.
struct LastVisit {
  Shares share;
  int misses = 0, wait = 0;
};

/// Base class of all topic models. Units are documents: groups of rows, or single rows of counts whose tokens
/// have different topics. If document d has counts N_dk of topics k, the optimal q(π_d) is Dirichlet(θ̂_d)
/// with θ̂_dk = N_dk + απ_k. Of the documents' part of the ELBO this leaves
///   Σ_d { −log Γ(N_d + α) + Σ_k log Γ(N_dk + απ_k) }
/// [Hughes 2016, eq. 5.26]. For documents that use topic k, the summary replaces log Γ by its tangent at the
/// π of their last visit. This is a lower bound, since log Γ is convex. It is exact after settle(), which
/// renews the tangents. Responses of documents add one term to the ELBO (response.h).
class TopicAlloc : public AllocModel,
                   public LearnedConcentrations,
                   public Tangents,
                   public UnitJoins,
                   public OwnVisits,
                   public RememberedUnits,
                   public OwnStart,
                   public WorkReader {
 public:
  /// fixed_k: number of topics; 0 for a model with stick-breaking weights, whose number of topics varies.
  TopicAlloc(Index fixed_k, const Concentration& alpha, const Sparsity& sparsity,
             std::shared_ptr<const ResponseModel> response)
      : TopicAlloc({true, fixed_k == 0, fixed_k, fixed_k == 0, response ? response->n_values() : 0}, alpha,
                   sparsity, response, 0) {}
  SummaryShape shape(const ObsModel& obs) const override;
  Index cost_of_observation(const ObsModel& obs, const DataShape& data) const override;
  std::shared_ptr<const Weights> visit_weights(const ObsModel& obs, const DataShape& data,
                                               const Summary& effective, Pool* pool,
                                               double* evidence) const override;
  Summary local_step(const Visit& in) const override;
  Summary explicit_step(const Visit& in, JoinParts& parts) const override;
  /// A start with k topics for documents of counts, found by anchor words (anchor_words.h). Up to 2^16
  /// documents are copied; more are read batch by batch.
  Summary own_start(const Problem& problem, Index k, Stream& stream, Pool& pool) const override;
  Summary summarise(const Visit& in, const GivenResponsibilities& resp) const override;
  Summary recompute(const Visit& in) const override;
  Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const override;
  void settle(Summary& batch, const Globals& globals) const override;
  std::vector<MoveKind> moves() const override;
  AllocCapabilities capabilities() const override;
  std::unique_ptr<BatchWork> read_work(const std::string& kind, Index batch,
                                       std::shared_ptr<const WorkGlobals> at, Reader& in) const override;

  /// The model with the concentration α that is optimal for the documents' counts of topics. For each value
  /// of α the Dirichlet parameters θ̂_d of the documents are taken at their optimum. No data are read.
  std::shared_ptr<const AllocModel> learned(const State& state, Pool* pool) const override;
  NamedArrays learned_fields() const override;
  double log_hyperprior() const override { return log_density(alpha_); }

  double alpha() const { return alpha_.value; }
  /// Number of covariate patterns on which the documents' priors depend; 0: none.
  Index document_patterns() const { return patterns_; }
  DocumentTerms document_terms() const { return {alpha(), response(), patterns_}; }

  /// The model of the documents' responses; null: they have none.
  const ResponseModel* response() const { return response_.get(); }
  /// q(η), the posterior of the effects of topics on responses, at these globals. Null if no response is
  /// known yet; documents are then fitted to their tokens alone.
  std::unique_ptr<const ResponsePosterior> response_posterior(const Globals& globals) const;

  /// Globals (the parameters' posterior) in which topic b has become part of topic a: the proportion π_b is
  /// added to π_a.
  Globals merged(const Globals& globals, Index a, Index b) const override;

  /// The globals if the K topics have these statistics and proportions π = weights (K + 1 numbers). No
  /// document counts as visited.
  virtual Globals globals_at(Summary total, const Vec& weights) const = 0;

  /// Visits one document, and appends the topics that it uses, with their counts, to `block`. number: the
  /// number of this block in its table. The search starts from the last visit. With `search`, the first visit
  /// also starts from scratch and tries to empty topics (restarts). Some later visits do so, too, ever more
  /// rarely while this finds nothing. The best result is kept.
  static UnitShares visit(DocStep& step, const DocumentView& view, const LastVisit& last, ShareBlock& block,
                          int number, bool search = false);

  /// Number of chunks into which a batch of documents is divided: at most 8, with 64 documents or more each
  /// (guesses). It depends only on the number of documents.
  static Index count_chunks(Index n_documents);

  /// Dirichlet parameters of the documents' proportions of K topics: απ_1, ..., απ_K.
  virtual Vec document_prior(const Globals& globals) const = 0;
  /// The Dirichlet priors of the documents' proportions: one for all documents, or one for each covariate
  /// pattern.
  virtual DocumentPriors document_priors(const Globals& globals) const {
    return DocumentPriors(DocumentPrior(document_prior(globals)));
  }

  /// The globals after topic b joined topic a < b: a has the proportions of both; all else is unchanged.
  /// merged: the statistics after joining.
  virtual Globals joined(const Globals& before, const Summary& merged, Index a, Index b) const;

 protected:
  TopicAlloc(const AllocFacts& facts, const Concentration& alpha, const Sparsity& sparsity,
             std::shared_ptr<const ResponseModel> response, Index patterns)
      : AllocModel(facts, sparsity), alpha_(alpha), response_(std::move(response)), patterns_(patterns) {}

  /// An estimate of document_prior() from the sizes of the topics, for the time before any document has been
  /// visited.
  virtual Vec document_prior_of(const Vec& sizes) const = 0;

  /// A copy of this model with another concentration α.
  virtual std::unique_ptr<TopicAlloc> with(const Concentration& alpha) const = 0;

  /// The terms of the ELBO that depend on the concentration α: the part of the documents, and the bounds of
  /// the log normalisers of their priors. pi: moments of the weights π of topics.
  virtual RoundedSum value_of_documents(const Summary& total, const WeightMoments& pi) const = 0;

  /// Adds the term of the documents' responses to the ELBO, if there are responses.
  void add_response_term(const Summary& total, const Globals& globals, Terms& terms) const;

  const Concentration alpha_;
  const std::shared_ptr<const ResponseModel> response_;

 private:
  void settle_by_pattern(Summary& batch, const DocumentPriors& priors) const;

  const Index patterns_;
};

}  // namespace bnpvi::topics
