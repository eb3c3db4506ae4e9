// The numerical inner loops: a table of functions, in the version that suits the processor.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Inner loops on dense arrays. All arrays are row-major; ld* is the distance between rows, in doubles.
/// Results of two versions of a loop agree to 1e-12 relative; within one version they depend only on the
/// arguments. No function allocates memory.
struct Kernels {
  const char* name;

  /// C = A Bᵀ: A is n × p, B is k × p, C is n × k.
  void (*product_nt)(Index n, Index k, Index p, const double* a, Index lda, const double* b, Index ldb,
                     double* c, Index ldc);

  /// C = A Bᵀ for many A and the same B (k × p), with the same bits as product_nt. pack() stores B in
  /// packed_size(k, p) doubles, preferably aligned to 64 bytes, in a layout that only this version of the
  /// table understands. product_packed() then multiplies.
  Index (*packed_size)(Index k, Index p);
  void (*pack)(Index k, Index p, const double* b, Index ldb, double* packed);
  void (*product_packed)(Index n, Index k, Index p, const double* a, Index lda, const double* packed,
                         double* c, Index ldc);

  /// Computes C = A[index] Bᵀ: row i of C (n × k) is row index_i of A times Bᵀ. A has p columns; index has n
  /// entries.
  void (*selected_product_nt)(Index n, Index k, Index p, const int* index, const double* a, Index lda,
                              const double* b, Index ldb, double* c, Index ldc);

  /// out_i = ⟨row index_i of A, x⟩. A has p columns; x has p entries, index n.
  void (*dot_rows)(Index n, Index p, const int* index, const double* a, Index lda, const double* x,
                   double* out);

  /// S += Rᵀ A: R is n × k, A is n × p, S is k × p.
  void (*add_product_tn)(Index n, Index k, Index p, const double* r, Index ldr, const double* a, Index lda,
                         double* s, Index lds);

  /// Out (k × n) = Aᵀ: A is n × k.
  void (*transpose_rows)(Index n, Index k, const double* a, Index lda, double* out, Index ldo);

  /// Squares of rows: row i of out (m(m+1)/2 columns) is the lower triangle of v_i v_iᵀ, packed by rows:
  /// entry (j, l), l ≤ j, is at j(j+1)/2 + l. v is n × m.
  void (*packed_outer)(Index n, Index m, const double* v, Index ldv, double* out, Index ldo);

  /// Replaces each row w of W (n × k) by its softmax exp(w − log_norm), with log_norm = log Σ exp(w). floor:
  /// a probability ≥ 0; in effect at least DBL_MIN, so that no result is subnormal. Entries below `floor`
  /// become exactly 0 and are left out of log_norm. So the other entries r of a row sum to 1, and −Σ r log r
  /// = log_norm − Σ r w holds exactly. The largest entry always remains. If all entries of a row are −∞, the
  /// row becomes 0 and its log_norm −∞.
  void (*softmax_rows)(Index n, Index k, double* w, Index ldw, double floor, double* log_norm);

  /// R (n × k, which must not overlap W) = the softmax of each row of W, as in softmax_rows(). Also computes
  /// the entropy −Σ r log r of each row, from w − max w so that nothing cancels.
  void (*responsibility_rows)(Index n, Index k, const double* w, Index ldw, double floor, double* r,
                              Index ldr, double* entropy);

  /// y += Σ_i x_i (row index_i of B), the product of a sparse row and a dense matrix: B has k columns; y has
  /// k entries.
  void (*add_sparse_rows)(Index nnz, Index k, const int* index, const double* x, const double* b, Index ldb,
                          double* y);

  /// B += xᵀ r for a sparse row x: adds x_i r to row index_i of B, for each of nnz entries. B has k columns,
  /// r has k entries. Entries with x_i = 0 are skipped.
  void (*scatter_sparse_rows)(Index nnz, Index k, const int* index, const double* x, const double* r,
                              double* b, Index ldb);

  /// sum = Σ_i x_i (row index_i of B) over n rows of B, which has k columns; and product = sum ∘ factor
  /// (elementwise). product may be the same array as factor.
  void (*weigh_rows)(Index n, Index k, const int* index, const double* x, const double* b, Index ldb,
                     const double* factor, double* sum, double* product);

  /// Finds the columns of the `width` ≤ k largest entries of each row of W (n × k): column (n × width), in no
  /// particular order; among equal entries the first columns are chosen.
  void (*largest_rows)(Index n, Index k, const double* w, Index ldw, Index width, int* column);

  /// Finds the columns of the `width` largest entries of one row w of k numbers. On entry `column` holds
  /// `width` different columns as a guess; the better the guess, the faster it is.
  void (*largest_from)(Index k, const double* w, Index width, int* column);

  /// One forward step of messages along rows whose clusters depend on each other: out = (aᵀP) ∘ e / s, where
  /// s is such that out sums to 1. a: the message of the row before (k numbers); P: transitions (k × k); e:
  /// likelihoods of the row. Returns s. If s = 0, no cluster is possible and out = 0. out must not overlap a.
  double (*forward_step)(Index k, const double* a, const double* p, Index ldp, const double* e, double* out);

  /// One backward step of messages along rows whose clusters depend on each other: first e ← scale · e ∘ b,
  /// which expected transitions need too, then out = P e. b: the message into the row (k numbers); e:
  /// likelihoods of the row; pt: the transpose of the transitions P. out may be the same array as b.
  void (*backward_step)(Index k, const double* b, const double* pt, Index ldp, double scale, double* e,
                        double* out);

  /// e_ij = exp(w_ij − top_i) with top_i the largest entry of row i of W (n × k). Results below e^−708 are
  /// about 0.
  void (*exp_rows)(Index n, Index k, const double* w, Index ldw, double* e, Index lde, double* top);

  /// out_i = log x_i, ψ(x_i) or log Γ(x_i) for x ≥ DBL_MIN, with an error of a few rounding units of max(1,
  /// |out|). out may be the same array as x.
  void (*log_each)(Index n, const double* x, double* out);
  void (*digamma_each)(Index n, const double* x, double* out);
  void (*log_gamma_each)(Index n, const double* x, double* out);

  /// Functions of n counts t, of which negative ones count as 0: s_i = max(t_i, 0). a: Dirichlet parameters,
  /// at least DBL_MIN.
  ///   positive_sum       returns Σ_i s_i;
  ///   digamma_of_counts  out_i = ψ(a_i + s_i) − shift;
  ///   log_rising_sum     returns Σ_i [log Γ(a_i + s_i) − log_gamma_a_i], which is exactly 0 for t = 0 if
  ///                      log_gamma_a comes from log_gamma_each.
  double (*positive_sum)(Index n, const double* t);
  void (*digamma_of_counts)(Index n, const double* a, const double* t, double shift, double* out);
  double (*log_rising_sum)(Index n, const double* a, const double* t, const double* log_gamma_a);
  /// digamma_of_counts and log_rising_sum in one pass, with the same bits.
  double (*digamma_and_rising)(Index n, const double* a, const double* t, double shift,
                               const double* log_gamma_a, double* out);

  /// Returns Σ_i c_i log x_i, x ≥ DBL_MIN.
  double (*weighted_log_sum)(Index n, const double* c, const double* x);

  /// One round of dividing n counts c among m clusters with weights w. Row row_j of G = exp(C) belongs to
  /// cluster j, where C are log-likelihoods; G has n columns.
  ///   s_u = Σ_j w_j G_ju,   share_u = c_u / s_u (0 where s_u ≤ least),   y_j = w_j Σ_u share_u G_ju.
  /// Returns the smallest s_u.
  double (*share_round)(Index m, Index n, const int* row, const double* w, const double* g, Index ldg,
                        const double* c, double least, double* s, double* share, double* y);

  /// Divides counts like share_round, but among all k clusters. G_ju is entry j of row row_u of B, which has
  /// k columns.
  double (*share_sweep)(Index n, Index k, const int* row, const double* w, const double* b, Index ldb,
                        const double* c, double least, double* s, double* share, double* y);

  /// Replaces T (n × k) by T ∘ E (elementwise). Returns Σ_ij t_ij (c_ij − top_j) with the new T; C is n × k.
  double (*scale_rows)(Index n, Index k, const double* e, Index lde, const double* c, Index ldc,
                       const double* top, double* t, Index ldt);

  /// For each column u keeps the `width` ≤ m largest of the values w_j G_ju of m clusters. Row row_j of G
  /// belongs to cluster j. out (m × n): these rows of G, with 0 where a value is not kept. Among equal values
  /// the first rows are kept. mask: bit j % 64 of mask_{u, j / 64} is set if entry (j, u) is kept. scratch: 8
  /// width doubles.
  void (*keep_largest)(Index m, Index n, const int* row, const double* w, const double* g, Index ldg,
                       Index width, double* scratch, double* out, Index ldo, unsigned long long* mask,
                       Index ldm);

  /// Log weights for heavy-tailed distributions such as t, in which cluster j multiplies the precision of row
  /// i by a latent scale u_ij with q(u_ij) = Gamma(a_j, b_ij). ratio: b / a (n × k). Results: log_ratio =
  /// log(b / a) and out = c_j − a_j log(b / a).
  void (*scale_log_weights)(Index n, Index k, const double* ratio, const double* c, const double* a,
                            double* log_ratio, double* out);

  /// Sums for the latent scales u of scale_log_weights, with E u = a / b = 1 / ratio. −log_ratio is used for
  /// log u. r: responsibilities (n × k). Computes share = r E u. Adds to the four rows of sums (4 × k) the
  /// sums over rows of r, r log u, r (log u − E u + 1) and r (E u − 1)².
  void (*sum_scales)(Index n, Index k, const double* r, const double* ratio, const double* log_ratio,
                     double* share, double* sums);
};

/// The table of inner loops in the best version for this processor. The environment variable BNPVI_KERNELS
/// may name another ("base", "avx2", "avx512") that the processor can run. Chosen at first use.
const Kernels& kernels();

/// The table of inner loops with that name, or nullptr when it was not built or the processor cannot run it.
const Kernels* kernels_named(const char* name);

}  // namespace bnpvi
