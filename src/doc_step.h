// The local step of one document: its topic counts and its tokens' responsibilities, by coordinate ascent.
#pragma once
#include "document.h"

namespace bnpvi {

/// What one document has of one topic. Its responsibilities are a function of the log weights P and of the
/// expected log-likelihoods at the visit, r_uk ∝ exp(C_u,column + P_k), and give its count N_k.
struct TopicShare {
  int topic;          // present number of the topic
  int column;         // its number at the visit, a column of C
  double count;       // N_dk
  double log_weight;  // P_dk, up to a constant of the document
  double theta;       // where log Γ(· + απ_k) is touched, θ̂_dk = N_dk + απ_k at that time
};

/// Document parameters απ of K topics with what every document needs of them.
struct DocumentPrior {
  explicit DocumentPrior(Vec alpha_pi);
  Index k() const { return static_cast<Index>(a.size()); }

  Vec a;  // απ_k
  Vec log_gamma_a;
};

/// A local optimum of the document's bound. With θ̂_k = N_k + απ_k optimal the bound depends on q(z) alone:
///   f = Σ_u c_u Σ_k r_uk (C_uk − log r_uk) + Σ_k [log Γ(N_k + απ_k) − log Γ(απ_k)]
/// up to constants of the document. Topics without a share have r = 0 exactly.
struct DocumentFit {
  std::vector<TopicShare> share;  // by topic, ascending
  double bound = -1e300;
};

/// Counts below this are exactly zero: at most as much of a document's bound is given up.
inline constexpr double least_share = 1e-8;

/// Scratch of one thread.
class DocStep {
 public:
  /// width: L, topics a token may belong to; 0 = all.
  DocStep(const DocumentPrior& prior, Index width) : prior_(prior), width_(width) {}

  /// From the likelihood and π alone [Hughes 2016, Alg. 5.1].
  DocumentFit cold(const DocumentView& view);

  /// From the given topics and counts; the bound never falls below theirs (up to least_share).
  DocumentFit warm(const DocumentView& view, const std::vector<TopicShare>& from);

  /// Sparsity restarts [Alg. 5.2]: each topic in turn, smallest first, is emptied; kept if the bound rises.
  void restarts(const DocumentView& view, DocumentFit& fit);

 private:
  void activate(const DocumentView& view, std::vector<int> topics);
  DocumentFit ascend(const DocumentView& view, Index max_rounds);
  void round(const DocumentView& view);
  void sum_rows();
  void round_apart(const DocumentView& view, Index u);
  void choose(const DocumentView& view);
  bool drop_empty(const DocumentView& view, bool all);
  void weigh_by_counts();
  double bound(const DocumentView& view) const;

  const DocumentPrior& prior_;
  Index width_;
  std::vector<int> topic_;  // A active topics
  Vec count_, p_, w_;       // A: N_k, P_k and exp(P_k − max P)
  double shift_ = 0;        // max P
  Vec g_;                   // n × A: E of the document's rows and active topics
  Vec s_;                   // n: Σ_k g_uk w_k; 1 for rows where that underflows
  Vec share_;               // n: c_u / s_u
  std::vector<int> rows_;   // 0 .. n−1
  Vec apart_;               // A: counts of those rows
  double log_apart_ = 0;    // Σ c_u log Σ_k g_uk w_k of those rows
  std::vector<int> order_;
  std::vector<int> chosen_;  // n × L positions among the active topics, when L < A
};

/// Responsibilities of the rows of a document, n × share.size(); every row sums to 1. Adds the entropy
/// Σ_u c_u H(r_u) to `entropy`.
void document_responsibilities(const DocumentView& view, const std::vector<TopicShare>& share, Index width,
                               Vec& r, double& entropy);

}  // namespace bnpvi
