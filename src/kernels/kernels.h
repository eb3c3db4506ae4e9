// The inner loops: a table of functions, chosen once for the processor at hand.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Dense inner loops. All arrays are row-major; ld* is the distance between rows, in doubles.
/// Every version of a kernel agrees with the others to 1e-12 relative; for one version the result
/// depends on its arguments only. No kernel allocates.
struct Kernels {
  const char* name;

  /// C = A Bᵀ: A is n × p, B is k × p, C is n × k.
  void (*product_nt)(Index n, Index k, Index p, const double* a, Index lda, const double* b, Index ldb,
                     double* c, Index ldc);

  /// The same when many A are multiplied with one B: pack() lays B out in packed_size(k, p) doubles, best
  /// aligned to 64 bytes, in a way that only this version of the kernels understands. The bits are the same.
  Index (*packed_size)(Index k, Index p);
  void (*pack)(Index k, Index p, const double* b, Index ldb, double* packed);
  void (*product_packed)(Index n, Index k, Index p, const double* a, Index lda, const double* packed,
                         double* c, Index ldc);

  /// The same as product_nt with some rows of A: C row i = A row index_i times Bᵀ; A is · × p, index has n
  /// entries.
  void (*selected_product_nt)(Index n, Index k, Index p, const int* index, const double* a, Index lda,
                              const double* b, Index ldb, double* c, Index ldc);

  /// out_i = A row index_i · x: A is · × p, x has p entries, index n.
  void (*dot_rows)(Index n, Index p, const int* index, const double* a, Index lda, const double* x,
                   double* out);

  /// S += Rᵀ A: R is n × k, A is n × p, S is k × p.
  void (*add_product_tn)(Index n, Index k, Index p, const double* r, Index ldr, const double* a, Index lda,
                         double* s, Index lds);

  /// Out (k × n) = Aᵀ: A is n × k.
  void (*transpose_rows)(Index n, Index k, const double* a, Index lda, double* out, Index ldo);

  /// Out row i = the lower triangle of v_i v_iᵀ packed by rows, (j, l) at j(j+1)/2 + l for l ≤ j;
  /// v is n × m, out has m(m+1)/2 columns.
  void (*packed_outer)(Index n, Index m, const double* v, Index ldv, double* out, Index ldo);

  /// Each row w of W (n × k) becomes exp(w − log_norm), log_norm = log Σ exp(w), with entries below
  /// `floor` (a probability, ≥ 0; in effect at least DBL_MIN, so that no result is subnormal) set to exactly
  /// 0 and left out of log_norm, so that a row sums to 1 over its support and  −Σ r log r = log_norm −
  /// Σ r w  exactly over that support. The largest entry always stays. A row of −∞ alone has no support:
  /// it becomes 0 and its log_norm −∞.
  void (*softmax_rows)(Index n, Index k, double* w, Index ldw, double floor, double* log_norm);

  /// The same with the result in R (n × k, apart from W) and the entropy −Σ r log r of each row, computed
  /// from w − max w so that nothing cancels.
  void (*responsibility_rows)(Index n, Index k, const double* w, Index ldw, double floor, double* r,
                              Index ldr, double* entropy);

  /// y += Σ_i x_i B_row(index_i) : B is · × k, y has k entries; the sparse row times dense matrix.
  void (*add_sparse_rows)(Index nnz, Index k, const int* index, const double* x, const double* b, Index ldb,
                          double* y);

  /// B_row(index_i) += x_i r : the transpose of the above. Entries with x_i = 0 are skipped.
  void (*scatter_sparse_rows)(Index nnz, Index k, const int* index, const double* x, const double* r,
                              double* b, Index ldb);

  /// sum = Σ_i x_i B_row(index_i) over n rows of B (· × k), and product = sum ∘ factor, which may be factor.
  void (*weigh_rows)(Index n, Index k, const int* index, const double* x, const double* b, Index ldb,
                     const double* factor, double* sum, double* product);

  /// The columns of the `width` ≤ k largest entries of each row of W (n × k), in no particular order; of
  /// equal entries the first columns. column is n × width.
  void (*largest_rows)(Index n, Index k, const double* w, Index ldw, Index width, int* column);

  /// The same of one row. column holds `width` different columns to begin with; the closer they are to the
  /// answer, the quicker.
  void (*largest_from)(Index k, const double* w, Index width, int* column);

  /// One scaled forward message: out = (aᵀP) ∘ e / s, so that it sums to 1, and s is
  /// returned (0 when nothing is possible; then out = 0). P is k × k; out is apart from a.
  double (*forward_step)(Index k, const double* a, const double* p, Index ldp, const double* e, double* out);

  /// One scaled backward message: e ← scale · e ∘ b, which expected transitions need too, and out = P e.
  /// Takes the transpose of P; out may be b.
  void (*backward_step)(Index k, const double* b, const double* pt, Index ldp, double scale, double* e,
                        double* out);

  /// Each row of E (n × k) = exp(w − top), top the largest entry of the row of W; entries below e^−708 are
  /// about 0.
  void (*exp_rows)(Index n, Index k, const double* w, Index ldw, double* e, Index lde, double* top);

  /// out_i = log x_i, ψ(x_i), log Γ(x_i), for x ≥ DBL_MIN, to a few units of rounding of max(1, |out|); out
  /// may be x.
  void (*log_each)(Index n, const double* x, double* out);
  void (*digamma_each)(Index n, const double* x, double* out);
  void (*log_gamma_each)(Index n, const double* x, double* out);

  /// With s_i = max(t_i, 0), and a ≥ DBL_MIN: Σ_i s_i;  out_i = ψ(a_i + s_i) − shift;
  /// Σ_i [log Γ(a_i + s_i) − log_gamma_a_i], which is 0 for t = 0 and log_gamma_a from log_gamma_each.
  double (*positive_sum)(Index n, const double* t);
  void (*digamma_of_counts)(Index n, const double* a, const double* t, double shift, double* out);
  double (*log_rising_sum)(Index n, const double* a, const double* t, const double* log_gamma_a);
  /// digamma_of_counts and log_rising_sum in one pass, with the same bits.
  double (*digamma_and_rising)(Index n, const double* a, const double* t, double shift,
                               const double* log_gamma_a, double* out);

  /// Σ_i c_i log x_i, x ≥ DBL_MIN.
  double (*weighted_log_sum)(Index n, const double* c, const double* x);

  /// Shares n counts c among m clusters of weights w, cluster j in row row_j of G (· × n) = exp(C):
  ///   s_u = Σ_j w_j G_ju,   share_u = c_u / s_u (0 where s_u ≤ least),   y_j = w_j Σ_u share_u G_ju.
  /// Returns the smallest s.
  double (*share_round)(Index m, Index n, const int* row, const double* w, const double* g, Index ldg,
                        const double* c, double least, double* s, double* share, double* y);

  /// share_round with all k clusters and count u in row row_u of B (· × k).
  double (*share_sweep)(Index n, Index k, const int* row, const double* w, const double* b, Index ldb,
                        const double* c, double least, double* s, double* share, double* y);

  /// T ← T ∘ E (n × k), and returns Σ_ij t_ij (c_ij − top_j).
  double (*scale_rows)(Index n, Index k, const double* e, Index lde, const double* c, Index ldc,
                       const double* top, double* t, Index ldt);

  /// Out (m × n) = the rows row_j of G where w_j G_ju is among the `width` ≤ m largest of its column u, else
  /// 0; of equal values the first rows are kept; bit j % 64 of mask_{u, j / 64} is set where j stays.
  /// scratch: 8 width doubles.
  void (*keep_largest)(Index m, Index n, const int* row, const double* w, const double* g, Index ldg,
                       Index width, double* scratch, double* out, Index ldo, unsigned long long* mask,
                       Index ldm);

  /// For scales u of rows, q(u_ij) = Gamma(a_j, b_ij), from b / a (n × k): its logarithm, and c_j − a_j log(b
  /// / a).
  void (*scale_log_weights)(Index n, Index k, const double* ratio, const double* c, const double* a,
                            double* log_ratio, double* out);

  /// With E u = a / b: share = r E u, and sums (4 × k) += over the rows Σ r, and Σ r of log E u, of log E u −
  /// E u + 1 and of (E u − 1)².
  void (*sum_scales)(Index n, Index k, const double* r, const double* ratio, const double* log_ratio,
                     double* share, double* sums);
};

/// The best version for this processor, or the one named by the environment variable BNPVI_KERNELS
/// ("base", "avx2", "avx512") when the processor can run it. Chosen at first use.
const Kernels& kernels();

/// The version of that name, or nullptr when it was not built or the processor cannot run it.
const Kernels* kernels_named(const char* name);

}  // namespace bnpvi
