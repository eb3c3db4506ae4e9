# bnp_moves(), which says which moves a fit tries, and the values that bnp_control() accepts as `moves`.

#' Moves that find the number of clusters
#'
#' A move proposes another set of clusters and is accepted only if the bound of all data rises. With a finite prior the
#' number of clusters `k` does not change: merges and deletes leave an empty cluster, and a birth either takes an empty
#' cluster or joins two other clusters in the same proposal. If births and merges are both on, neighbouring clusters
#' are also joined and divided anew.
#'
#' @param birth Try new clusters?
#' @param merge Try to join pairs of clusters?
#' @param delete Try to remove clusters and give their observations to others?
#' @param reorder Try another order of the clusters? (The prior of the Dirichlet process prefers larger clusters
#'   first.)
#' @param adopt For mixtures: judge all births of a lap together, after one more lap in which every observation may
#'   move to the new clusters (Hughes and Sudderth, 2013), instead of one by one?
#' @param max_births Largest number of births that are tried in a lap.
#' @param birth_size The number of new clusters that a birth proposes. (In topic models of counts it applies to births
#'   that divide a topic by clusters of documents; births by anchor words have as many topics as there are anchors.)
#' @param max_deletes Largest number of deletes that are tried in a lap; in mixtures, those that a forecast refuses come
#'   on top; in topic models, of deletes that are not accepted.
#' @param max_merges Largest number of pairs of clusters that are considered for merges during a lap; for sequences, of
#'   merges that are tried.
#' @param ... Must be empty.
#' @return An object of class `bnp_moves`, to be given to [bnp_control()].
#' @references
#' Hughes, M. C. and Sudderth, E. B. (2013). Memoized online variational inference for Dirichlet
#' process mixture models. *Advances in Neural Information Processing Systems* 26.
#'
#' Hughes, M. C., Kim, D. I. and Sudderth, E. B. (2015). Reliable and scalable variational
#' inference for the hierarchical Dirichlet process. *Artificial Intelligence and Statistics*
#' 18.
#'
#' Hughes, M. C., Stephenson, W. T. and Sudderth, E. B. (2015). Scalable adaptation of state
#' complexity for nonparametric hidden Markov models. *Advances in Neural Information
#' Processing Systems* 28.
#' @seealso [bnp_control()]; [elbo_trace()] for what was tried and accepted;
#'   `vignette("how-many-clusters")`.
#' @examples
#' bnp_moves(birth = FALSE)
#' @export
bnp_moves <- function(birth = TRUE, merge = TRUE, delete = TRUE, reorder = TRUE, adopt = FALSE,
                      max_births = 50L, birth_size = 10L, max_deletes = 10L, max_merges = 50L, ...) {
  check_no_dots(...)
  checked_arguments(names(match.call()), move_checks, usual_moves)
}

move_checks <- list(
  birth = check_flag, merge = check_flag, delete = check_flag, reorder = check_flag, adopt = check_flag,
  max_births = check_count, birth_size = function(x, arg, call) check_count(x, arg, 2L, call),
  max_deletes = check_count, max_merges = check_count
)

usual_moves <- structure(as.list(formals(bnp_moves)[names(move_checks)]), class = c("bnp_moves", "list"))

moves_in_use <- function(x) {
  kinds <- c("birth", "merge", "delete", "reorder")
  kinds[unlist(x[kinds])]
}

#' @export
format.bnp_moves <- function(x, ...) {
  used <- moves_in_use(x)
  if (!length(used)) {
    return("none")
  }
  knobs <- c(birth = "max_births", birth = "birth_size", merge = "max_merges", delete = "max_deletes")
  knobs <- knobs[names(knobs) %in% used]
  details <- if (length(knobs)) paste0(" (", paste(knobs, "=", unlist(x[knobs]), collapse = ", "), ")")
  paste0(paste(used, collapse = ", "), details)
}

#' @export
print.bnp_moves <- function(x, ...) {
  cat("Moves: ", format(x), "\n", sep = "")
  invisible(x)
}

check_moves <- function(moves, call = rlang::caller_env()) {
  if (isFALSE(moves)) {
    return(bnp_moves(birth = FALSE, merge = FALSE, delete = FALSE))
  }
  if (isTRUE(moves)) {
    return(usual_moves)
  }
  if (!inherits(moves, "bnp_moves")) {
    abort("argument", c(
      "{.arg moves} must be made by {.fn bnp_moves}, or be {.code TRUE} or {.code FALSE}, not
       {describe(moves)}."
    ), call = call)
  }
  moves
}
