#' Agreement of two clusterings
#'
#' The adjusted Rand index: 1 when two partitions of the same items agree, 0 on
#' average when they are independent. Names and numbers of clusters do not
#' matter.
#'
#' @param a,b Labels of the same items, of any class (see [bnpvi]); where both have names, `b` goes by those of `a`.
#' @return A number, at most 1.
#' @references
#' Hubert, L. and Arabie, P. (1985). Comparing partitions. *Journal of Classification* 2,
#' 193-218.
#' @seealso [fitted.bnp_fit()] for the labels of a fit.
#' @examples
#' adjusted_rand_index(c(1, 1, 2, 2), c("b", "b", "a", "a"))
#' @export
adjusted_rand_index <- function(a, b) {
  if (length(a) != length(b) || !length(a)) {
    abort("argument", c(
      "{.arg a} and {.arg b} must have the same length, at least 1; they have {length(a)} and {length(b)}."
    ))
  }
  b <- in_order_of_names(b, names(as_vector(a)), length(a), "b", "item", rlang::current_env())
  joint <- table(label_factor(a, "a"), label_factor(b, "b"))
  pairs <- function(n) sum(as.double(n) * (n - 1) / 2)
  both <- pairs(joint)
  in_a <- pairs(rowSums(joint))
  in_b <- pairs(colSums(joint))
  expected <- in_a * in_b / max(pairs(sum(joint)), 1)
  largest <- (in_a + in_b) / 2
  if (largest == expected) 1 else (both - expected) / (largest - expected)
}
