# Linear dynamical systems with known parameters.

#' Linear systems that switch between modes
#'
#' A system with known parameters, for [bnp_filter()]: a state x of m numbers moves linearly, by the matrices of one
#' of K
#' modes, and rows y of D columns are seen through noise. Modes follow each other as the states of a hidden Markov
#' model do. With one mode this is the Kalman filter.
#'
#' @param A Dynamics, x_t = A_k (x_\{t-1\}, 1) + noise: an array m x m x K, or m x (m + 1) x K with intercepts in the
#'   last
#'   column; a matrix for one mode; for m = 1 numbers, one for each mode.
#' @param Q Variances of the noise of x: an array m x m x K, a matrix for all modes; for m = 1 numbers, one for each
#'   mode or one for all. They may be 0.
#' @param C Loadings, y_t = C (x_t, 1) + noise: a matrix D x m, or D x (m + 1) with intercepts in the last column; for
#'   m = 1 numbers, one for each column of y.
#' @param R Variances of the noise of y: D numbers, or one for all columns, or a D x D matrix. They may be 0 if what
#'   they are to measure is never known exactly.
#' @param start_mean,start_var Mean and variance of the first state x_1: m numbers, or one for all; the variance may be
#'   an m x m matrix.
#' @param start Probabilities of the modes of the second row, which is the first that has one; default: all alike.
#' @param transition Transition probabilities, K x K, each row summing to 1; needed where there are several modes.
#' @return An object of class `bnp_lds_model`, a plain list of arrays.
#' @details Names are taken from `rownames(C)` for the columns of y and from the rows of `A` for state variables.
#'   Systems
#' may be unstable (an eigenvalue of A_k with modulus above 1), which `print()` says: forecasts then grow without bound.
#' @references
#' Kalman, R. E. (1960). A new approach to linear filtering and prediction problems. *Journal of Basic Engineering* 82,
#' 35-45.
#'
#' Fox, E., Sudderth, E. B., Jordan, M. I. and Willsky, A. S. (2011). Bayesian nonparametric inference of switching
#' dynamic linear models. *IEEE Transactions on Signal Processing* 59(4), 1569-1585; equation 4.
#' @seealso [bnp_filter()], `vignette("filtering")`.
#' @examples
#' # A level that keeps still, or moves
#' lds_model(
#'   A = c(1, 1), Q = c(0.001, 1), C = 1, R = 0.5, start_mean = 0, start_var = 10,
#'   transition = rbind(c(0.95, 0.05), c(0.2, 0.8))
#' )
#' @export
lds_model <- function(A, Q, C, R, start_mean, start_var, start = NULL, transition = NULL) {
  a <- as_modes(A, "A")
  m <- dim(a)[1L]
  k <- dim(a)[3L]
  if (!dim(a)[2L] %in% c(m, m + 1L)) {
    abort("argument", c(
      "{.arg A} must be an array m x m x K, or m x (m + 1) x K with intercepts, not {paste(dim(a), collapse = ' x ')}.",
      i = "For one state variable, numbers: one for each mode."
    ))
  }
  if (dim(a)[2L] == m) a <- with_intercepts(a)
  q <- as_modes(Q, "Q")
  if (dim(q)[3L] == 1L && k > 1L) q <- array(q, c(dim(q)[1:2], k))
  if (!identical(dim(q), c(m, m, k))) {
    abort("argument", c(
      "{.arg Q} must be an array {m} x {m} x {k}, as {.arg A} says, or one matrix {m} x {m} for all modes."
    ))
  }
  for (j in seq_len(k)) q[, , j] <- as_variance(matrix(q[, , j], m), m, "Q")
  c <- as_loadings(C, m)
  d <- nrow(c)
  structure(list(
    A = a, Q = q, C = c, R = as_variance(R, d, "R"),
    start_mean = as_start_mean(start_mean, m), start_var = as_variance(start_var, m, "start_var"),
    start = as_probabilities(start %||% rep(1 / k, k), "start", 1L, k)[1L, ],
    transition = as_probabilities(transition %||% if (k == 1L) 1, "transition", k, k),
    states = dimnames(A)[[1L]] %||% paste0("x", seq_len(m)), columns = rownames(C)
  ), class = "bnp_lds_model")
}

finite_numbers <- function(x, arg, call) {
  if (!is.numeric(x) || is.object(x) || !length(x) || !all(is.finite(x)) || any(abs(x) > 1e100)) {
    abort("argument", "{.arg {arg}} must hold finite numbers (of at most 1e100 in size), not {describe(x)}.",
      call = call
    )
  }
  storage.mode(x) <- "double"
  x
}

# Numbers for the modes of one variable, a matrix for one mode, or an array -> an array.
as_modes <- function(x, arg, call = rlang::caller_env()) {
  x <- finite_numbers(x, arg, call)
  if (is.null(dim(x))) return(array(x, c(1L, 1L, length(x))))
  if (length(dim(x)) == 2L) return(array(x, c(dim(x), 1L)))
  if (length(dim(x)) != 3L) {
    abort("argument", "{.arg {arg}} must be a matrix, or an array with the modes as third dimension.", call = call)
  }
  unname(x)
}

with_intercepts <- function(a) {
  out <- array(0, dim(a) + c(0L, 1L, 0L))
  out[, seq_len(dim(a)[2L]), ] <- a
  out
}

as_loadings <- function(x, m, call = rlang::caller_env()) {
  x <- finite_numbers(x, "C", call)
  if (is.null(dim(x)) && m == 1L) x <- matrix(x, ncol = 1L)
  if (length(dim(x)) != 2L || !ncol(x) %in% c(m, m + 1L)) {
    abort("argument", c(
      "{.arg C} must be a matrix with {m} column{?s}, or {m + 1} with intercepts, not {describe(x)}.",
      i = "It has a row for each column of the data, a column for each of the state variables of {.arg A}."
    ), call = call)
  }
  unname(if (ncol(x) == m) cbind(x, 0) else x)
}

as_start_mean <- function(x, m, call = rlang::caller_env()) {
  x <- finite_numbers(x, "start_mean", call)
  if (!length(x) %in% c(1L, m)) {
    abort("argument", "{.arg start_mean} must be {m} number{?s}, one for each state variable.", call = call)
  }
  rep_len(as.vector(x), m)
}

# One number, n variances, or a matrix -> a symmetric positive semidefinite matrix.
as_variance <- function(x, n, arg, call = rlang::caller_env()) {
  x <- finite_numbers(x, arg, call)
  if (is.null(dim(x)) && length(x) %in% c(1L, n)) x <- diag(x, n)
  if (!identical(dim(x), c(n, n))) {
    abort("argument", "{.arg {arg}} must be {n} variance{?s}, or a {n} x {n} matrix, not {describe(x)}.", call = call)
  }
  x <- unname(x)
  if (!isSymmetric(x, tol = 1e-8) || any(diag(x) < 0) ||
    min(eigen(x, symmetric = TRUE, only.values = TRUE)$values) < -1e-10 * max(diag(x))) {
    abort("not_definite", c(
      "{.arg {arg}} must be a covariance: symmetric, with no eigenvalue below 0.",
      i = "Use {.code (m + t(m)) / 2} when the difference is only rounding."
    ), call = call)
  }
  (x + t(x)) / 2
}

as_probabilities <- function(x, arg, n, k, call = rlang::caller_env()) {
  if (is.null(x)) {
    abort("argument", "{.arg {arg}} is needed, as {.arg A} has {k} modes: a {k} x {k} matrix.", call = call)
  }
  x <- finite_numbers(x, arg, call)
  if (is.null(dim(x)) && n == 1L) x <- matrix(x, 1L)
  if (!identical(dim(x), c(n, k)) && !(n == 1L && k == 1L && length(x) == 1L)) {
    shape <- if (n == 1L) "{k} probabilit{?y/ies}" else "a {n} x {k} matrix of probabilities"
    abort("argument", paste0("{.arg {arg}} must be ", shape, ", as {.arg A} has {k} mode{?s}."), call = call)
  }
  x <- unname(as.matrix(x))
  off <- abs(rowSums(x) - 1)
  if (any(x < 0) || any(off > 1e-6)) {
    abort("argument", c(
      "{.arg {arg}} must be probabilities: none below 0, {if (n == 1L) 'with' else 'each row with'} the sum 1.",
      i = "Divide by {.fn rowSums}."
    ), call = call)
  }
  x / rowSums(x)
}

# Modulus of the largest eigenvalue of each mode.
mode_moduli <- function(model) {
  m <- dim(model$A)[1L]
  apply(model$A[, seq_len(m), , drop = FALSE], 3L, function(a) max(Mod(eigen(matrix(a, m), only.values = TRUE)$values)))
}

#' @export
print.bnp_lds_model <- function(x, ...) {
  check_object(x)
  k <- dim(x$A)[3L]
  cat(
    "Linear system of ", count_of(length(x$states), "state variable"), ", ", count_of(nrow(x$C), "column"), " and ",
    count_of(k, "mode"), "\n", sep = ""
  )
  modulus <- mode_moduli(x)
  cat("Largest modulus of an eigenvalue: ", paste(format(modulus, digits = 3), collapse = " "), "\n", sep = "")
  if (any(modulus > 1 + 1e-12)) {
    cat("Unstable: ", if (k > 1L) paste0("mode ", places(which(modulus > 1 + 1e-12)), "; "),
      "forecasts grow without bound\n", sep = "")
  }
  invisible(x)
}

# As the engine reads it: matrices by rows.
as_engine_system <- function(model) {
  by_rows <- function(array) as.vector(aperm(array, c(2L, 1L, 3L)))
  list(
    k = dim(model$A)[3L], m = dim(model$A)[1L], d = nrow(model$C), A = by_rows(model$A), Q = by_rows(model$Q),
    C = as.vector(t(model$C)), R = as.vector(model$R), start_mean = model$start_mean,
    start_var = as.vector(model$start_var), start = model$start, transition = as.vector(t(model$transition))
  )
}
