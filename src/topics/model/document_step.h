// Finds the topic counts of a single document and the responsibilities of its tokens, by coordinate ascent.
#pragma once
#include <cmath>

#include <optional>

#include "topics/responses/document_response.h"

namespace bnpvi::topics {

/// The Dirichlet parameters a_k of the topic proportions of documents, with log a_k and log Γ(a_k).
struct DocumentPrior {
  /// all: the sum of all a_k and of the parameter of topics not in use; 0 if it is not needed.
  explicit DocumentPrior(Vec a, double all = 0);
  Index k() const { return static_cast<Index>(a.size()); }

  Vec a;  // απ_k; for documents with a covariate pattern απ_k E exp(x'λ_k)
  Vec log_a;
  Vec log_gamma_a;
  double all;
};

/// The Dirichlet priors of the proportions of documents: one for all documents, or one for each covariate
/// pattern. The pattern of a document is the first value in DocumentView::response.
struct DocumentPriors {
  explicit DocumentPriors(DocumentPrior prior) : of{std::move(prior)} {}
  explicit DocumentPriors(std::vector<DocumentPrior> by_pattern)
      : of(std::move(by_pattern)), patterned(true) {}

  const DocumentPrior& operator[](const DocumentView& view) const { return of[pattern(view)]; }
  Index pattern(const DocumentView& view) const {
    return patterned && view.response ? static_cast<Index>(view.response[0]) : 0;
  }

  std::vector<DocumentPrior> of;
  bool patterned = false;
};

/// Numbers stored for a document with a covariate pattern. pattern: its number. all: the sum of the prior's
/// parameters where the tangents (lower bounds) of the document's terms are taken.
struct PatternLocal {
  enum { pattern, all, size };
};

/// A local optimum of the bound of a document. Row u stands for c_u tokens. C_uk is its expected
/// log-likelihood under topic k. With the optimal Dirichlet parameters θ̂_k = N_k + απ_k, the bound depends
/// on q(z) alone:
///   f = Σ_u c_u Σ_k r_uk (C_uk − log r_uk) + Σ_k [log Γ(N_k + απ_k) − log Γ(απ_k)]
/// up to constants of the document. If it has a response, R(N) is added (document_response.h). Topics that
/// are not in `share` have responsibilities of exactly 0.
struct DocumentFit {
  std::vector<Share> share;  // the topics that the document uses with their counts N_k, by topic, ascending
  double bound = -1e300;
  Vec local;  // local numbers of the responses (ResponseModel)
};

/// The responsibilities of a document's rows as products of factors: c_u r_uk = share_u e_uk w_k, with e =
/// exp(C − max C). If each token may have only L topics, this holds for the topics in the mask of the row.
/// Rows u in which Σ_k e_uk w_k underflows are `apart`: their share_u is 0, and their c_u r_uk are listed.
struct DocumentFactors {
  Index n = 0, m = 0;
  const double* w = nullptr;                 // factor of each topic, exp(P_k − max P); m numbers
  const double* share = nullptr;             // factor of each row, n numbers
  const unsigned long long* mask = nullptr;  // n × mask_words: bit j for topic j; nullptr: all topics
  Index mask_words = 0;
  std::vector<int> apart;  // the rows u that are apart
  Vec apart_mass;          // c_u r_uk for these rows: apart × m
  double log_sum = 0;      // Σ_u c_u [H(r_u) + Σ_k r_uk (C_uk − max C_u)]
};

/// Topic counts N_k of a document below this value are set to exactly zero. This lowers the bound of the
/// document by about the same amount. The value is a guess.
inline constexpr double least_share = 1e-8;

/// The iteration for a document ends if no count of a topic changes by more than this. The value is a guess.
inline constexpr double least_change = 0.05;

/// A restart (an attempt to empty one topic of a document) is abandoned if its bound is below the one to beat
/// by more than this number times the gain of the last round. Among 100,000 restarts in a fit with 100
/// planted topics, none of the abandoned ones would have won. Among 40,000 on a real text (the whales), 3
/// would have, by 0.4 log units each.
inline constexpr double largest_gap = 3;

/// Visits documents one after another. Finds the topic counts of each, and the responsibilities of its
/// tokens. Scratch memory of one thread. A returned fit is valid until the next visit.
class DocStep {
 public:
  /// width: the largest number L of topics for a token; 0: all topics. responses: the posterior q(η) of the
  /// effects of topics on responses; null: documents are fitted to their tokens alone.
  DocStep(const DocumentPriors& priors, Index width, const ResponseModel* model = nullptr,
          const ResponsePosterior* responses = nullptr);

  /// Finds a local optimum from the likelihood and the prior π alone, without a previous fit [Hughes 2016,
  /// Alg. 5.1].
  const DocumentFit& cold(const DocumentView& view);

  /// Finds a local optimum, starting from these topics and counts, which must be allowed for the document.
  /// Its bound is not below that at the start (up to least_share). The bound is computed only with
  /// tell_bound.
  const DocumentFit& warm(const DocumentView& view, Shares from, bool tell_bound);

  /// Tries to empty each topic of the fit `best` in turn, the smallest first (sparsity restarts) [Hughes
  /// 2016, Alg. 5.2]. Each attempt is followed by rounds until they converge or are abandoned (largest_gap).
  /// It replaces `best` if it has a higher bound.
  void restarts(const DocumentView& view, DocumentFit& best);

  /// The responsibilities, as factors, at the end of the last call of cold(), warm() or restarts() on this
  /// view. Valid until the next such call.
  const DocumentFactors& factors(const DocumentView& view, Shares share);

  /// The number of multiplications in all iterations so far, in the unit of Pool::spend().
  double cost() const { return cost_; }

 private:
  const DocumentFit& cold_in(const DocumentView& view, const std::vector<int>& topics);
  void begin(const DocumentView& view);
  void use(const DocumentView& view);
  void gather(const DocumentView& view);
  void sweep(const DocumentView& view);
  bool ascend(const DocumentView& view, Index max_rounds, Index width, double rival = -HUGE_VAL);
  bool ascend_tilted(const DocumentView& view, Index max_rounds, Index width, double rival);
  void narrow(const DocumentView& view, Index max_rounds);
  void round(const DocumentView& view);
  void round_apart(const DocumentView& view, Index u);
  void choose(Index width);
  bool drop_empty();
  void weigh_by_counts();
  double log_sum();
  double bound();
  const DocumentFit& fit(bool tell_bound);
  void add_cost(Index rows, Index topics) {
    constexpr Index of_topic = 20;  // multiplications that cost as much as a digamma and an exp: a guess
    cost_ += static_cast<double>((rows + of_topic) * topics);
  }
  Index active() const { return static_cast<Index>(topic_.size()); }

  const DocumentPriors& priors_;
  const DocumentPrior* prior_;  // prior of the document
  Index width_;
  double cost_ = 0;
  const double* c_ = nullptr;  // number of tokens of each of the n rows of the document
  Vec ones_;
  const int* rows_ = nullptr;  // row of the table for each of the n rows of the document
  std::vector<int> first_rows_;
  std::vector<int> topic_, row_;  // the A topics in use, and for each its row in g_
  Vec count_, before_, p_, w_;    // A: N_k, the N_k before the last round, P_k and exp(P_k − max P)
  Vec x_, y_;                     // scratch for each topic in use
  double shift_ = 0;              // max P over the topics in use
  std::vector<int> gathered_;     // topics of the rows of g_, ascending
  Index ld_ = 0;
  Vec g_;                      // gathered topics × n, rows ld_ apart: e of the document's rows
  bool chosen_ = false;        // do rounds use kept_ instead of g_?
  Vec kept_, scratch_;         // A × n: g_ where a topic is one of the L chosen, else 0
  std::vector<int> kept_row_;  // 0 .. A−1
  std::vector<unsigned long long> mask_;
  Vec s_;                 // row sums Σ_k g_uk w_k; 1 for rows apart
  Vec share_;             // row factors c_u / s_u; 0 for rows apart
  double log_apart_ = 0;  // Σ c_u log Σ_k g_uk w_k over the rows apart
  DocumentFactors factors_;
  DocumentFit fit_;
  std::optional<DocumentResponse> response_;
  bool tilted_ = false;  // has the document a response?
  Vec at_, base_;        // A: counts at which ∇R is taken, and P without the tilt
};

/// Computes the responsibilities r of the rows u of a document for its topics, n × share.size(); every row
/// sums to 1. Adds the entropy Σ_u c_u H(r_u), over the c_u tokens of each row, to `entropy`.
void document_responsibilities(const DocumentView& view, Shares share, Index width, Vec& r, double& entropy);

}  // namespace bnpvi::topics
