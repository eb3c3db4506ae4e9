# Linear dynamical systems with parameters that the user gives.

#' Linear systems that switch between modes
#'
#' A system with known parameters, for [bnp_filter()]: a state x of m numbers moves linearly, by the matrices of one of
#' K modes, and rows y of D columns are observations of it with noise. Modes follow each other as the states of a hidden
#' Markov model do. With one mode this is the model of the Kalman filter.
#'
#' @param A Dynamics, x_t = A_k (x_\{t-1\}, 1) + noise: an array m x m x K, or m x (m + 1) x K with intercepts in the
#'   last column; a matrix for one mode; if m = 1, a vector with one number for each mode.
#' @param Q Variances of the noise of x: an array m x m x K, or a matrix for all modes; if m = 1, a vector with one
#'   number for each mode, or one number for all. They may be 0.
#' @param C Loadings, y_t = C (x_t, 1) + noise: a matrix D x m, or D x (m + 1) with intercepts in the last column; if m
#'   = 1, a vector with one number for each column of y. An array with such a matrix for each mode: the loadings differ
#'   between modes.
#' @param R Variances of the noise of y: D numbers, or one for all columns, or a D x D matrix. If they differ between
#'   modes, an array D x D x K (if D = 1, K numbers). They may be 0 if the part of the state that they measure is never
#'   known exactly.
#' @param start_mean,start_var Mean and variance of the first state x_1: m numbers, or one for all; the variance may be
#'   an m x m matrix.
#' @param start Probabilities of the modes of the first row that has a mode, see *Details*; default: all equal.
#' @param transition Transition probabilities, K x K, each row summing to 1; needed if there are several modes.
#' @param F,G Effects of q known inputs u_t, such as the control of a machine or the weather, on the state and on the
#'   rows: F_k u_t is added to x_t from the second row on, and G_k u_t to y_t. `F` is an array m x q x K and `G` an
#'   array D x q x K; matrices are for all modes. For a single input and a single variable (m = 1 for `F`, D = 1 for
#'   `G`), a vector with one effect for each mode, or one effect for all. `NULL`: no effects. Inputs are given to
#'   [bnp_filter()] with the rows.
#' @return An object of class `bnp_lds_model`, a plain list of arrays.
#' @details The mode of a row determines how the state moves into it from the row before. The first row therefore needs
#'   no mode, and `start` has the probabilities of the mode of the second row. If `C`, `R` or `G` differ between modes,
#'   the first row has a mode, too, and `start` has its probabilities. `print()` says which of the two holds.
#'
#'   The names of the columns of y are `rownames(C)`, and those of the state variables the row names of `A`. Systems may
#'   be unstable (an eigenvalue of A_k with modulus above 1), which `print()` says: forecasts then grow without bound.
#' @references
#' Kalman, R. E. (1960). A new approach to linear filtering and prediction problems. *Journal of Basic Engineering* 82,
#' 35-45.
#'
#' Fox, E., Sudderth, E. B., Jordan, M. I. and Willsky, A. S. (2011). Bayesian nonparametric inference of switching
#' dynamic linear models. *IEEE Transactions on Signal Processing* 59(4), 1569-1585; equation 4.
#' @seealso [bnp_filter()], *Filters: following rows as they arrive* on the site.
#' @examples
#' # A level that keeps still, or moves
#' lds_model(
#'   A = c(1, 1), Q = c(0.001, 1), C = 1, R = 0.5, start_mean = 0, start_var = 10,
#'   transition = rbind(c(0.95, 0.05), c(0.2, 0.8))
#' )
#'
#' # A sensor that fails now and then: it sees nothing but noise
#' lds_model(
#'   A = array(0.9, c(1, 1, 2)), Q = 0.1, C = array(c(1, 0), c(1, 1, 2)), R = c(0.1, 4),
#'   start_mean = 0, start_var = 1, start = c(1, 0), transition = rbind(c(0.95, 0.05), c(0.3, 0.7))
#' )
#' @export
lds_model <- function(A, Q, C, R, start_mean, start_var, start = NULL, transition = NULL, F = NULL, G = NULL) {
  a <- as_modes(A, "A")
  m <- dim(a)[1L]
  k <- dim(a)[3L]
  if (!dim(a)[2L] %in% c(m, m + 1L)) {
    abort("argument", c(
      "{.arg A} must be an m x m x K array, or m x (m + 1) x K with intercepts, not {paste(dim(a), collapse = ' x ')}.",
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
  c <- as_loadings(C, m, k)
  d <- dim(c)[1L]
  r <- as_noise(R, d, k)
  inputs <- input_effects(F, G, m, d, k)
  structure(list(
    A = a, Q = q, C = one_for_all(c), R = one_for_all(r),
    start_mean = as_start_mean(start_mean, m), start_var = as_variance(start_var, m, "start_var"),
    start = as_probabilities(start %||% rep(1 / k, k), "start", 1L, k)[1L, ],
    transition = as_probabilities(transition %||% if (k == 1L) 1, "transition", k, k),
    states = dimnames(A)[[1L]] %||% paste0("x", seq_len(m)), columns = dimnames(C)[[1L]],
    F = inputs$dynamics, G = if (!is.null(inputs)) one_for_all(inputs$rows), inputs = inputs$names,
    by_mode = any(vapply(list(c, r, inputs$rows), varies_by_mode, NA))
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

# Parameters of modes as an array with a matrix for each mode. x: numbers, one for each mode of a single
# variable; or a matrix for one mode; or such an array.
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

# Parameters that may differ by mode are arrays with one matrix per mode or one for all modes. one_for_all()
# reduces an array with equal matrices to one matrix.
one_for_all <- function(x) if (varies_by_mode(x)) x else array(x[, , 1L], dim(x)[1:2])
varies_by_mode <- function(x) {
  modes <- dim(x)[3L]
  !is.null(x) && modes > 1L && any(x != c(x[, , 1L]))
}

# Loadings as an array: observed columns D x (m hidden states + 1) x K modes, or x 1 if all modes share them.
as_loadings <- function(x, m, k, call = rlang::caller_env()) {
  x <- finite_numbers(x, "C", call)
  if (is.null(dim(x)) && m == 1L) x <- matrix(x, ncol = 1L)
  x <- if (!is.null(dim(x))) as_modes(x, "C", call)
  if (is.null(x) || !dim(x)[2L] %in% c(m, m + 1L) || !dim(x)[3L] %in% c(1L, k)) {
    abort("argument", c(
      "{.arg C} must be a matrix with {m} column{?s}, or {m + 1} with intercepts, or an array of {k} such
       {cli::qty(k)}matri{?x/ces}.",
      i = "It has a row for each column of the data, a column for each of the state variables of {.arg A}."
    ), call = call)
  }
  if (dim(x)[2L] == m) with_intercepts(x) else x
}

# Noise covariances of rows as an array: columns D x D x K modes, or x 1 if all modes share them.
as_noise <- function(x, d, k, call = rlang::caller_env()) {
  of_modes <- length(dim(x)) == 3L || is.null(dim(x)) && d == 1L && k > 1L && length(x) == k
  if (!of_modes) {
    return(array(as_variance(x, d, "R", call), c(d, d, 1L)))
  }
  x <- as_modes(x, "R", call)
  if (!identical(dim(x)[1:2], c(d, d)) || !dim(x)[3L] %in% c(1L, k)) {
    abort("argument", "{.arg R} must be an array {d} x {d} x {k}, a matrix {d} x {d} or {d} variance{?s} for all modes,
                       not {describe(x)}.", call = call)
  }
  for (j in seq_len(dim(x)[3L])) x[, , j] <- as_variance(matrix(x[, , j], d), d, "R", call)
  x
}

# Effects of known inputs: list(dynamics, rows, names) with an array m x q x K for the hidden states and an
# array D x q x K, or x 1 for all modes, for the observed rows; NULL if there are no inputs.
input_effects <- function(f, g, m, d, k, call = rlang::caller_env()) {
  if (is.null(f) && is.null(g)) {
    return(NULL)
  }
  names <- unique(lapply(list(f, g), function(x) if (length(dim(x)) > 1L) dimnames(x)[[2L]]))
  names <- Filter(Negate(is.null), names)
  f <- as_effects(f, m, k, "F", call)
  g <- as_effects(g, d, k, "G", call)
  q <- dim(f)[2L] %||% dim(g)[2L]
  f <- f %||% array(0, c(m, q, 1L))
  g <- g %||% array(0, c(d, q, 1L))
  if (dim(g)[2L] != q || length(names) > 1L) {
    abort("argument", c(
      "{.arg F} and {.arg G} must be of the same inputs: one column for each, with the same names in the same order.",
      x = "{.arg F} has {q} column{?s}, {.arg G} {dim(g)[2L]}."
    ), call = call)
  }
  list(dynamics = array(f, c(m, q, k)), rows = g, names = unlist(names))
}

as_effects <- function(x, n, k, arg, call) {
  if (is.null(x)) {
    return(NULL)
  }
  if (is.null(dim(x)) && n > 1L || length(dim(x)) > 1L && ncol(x) == 0L) x <- "none"
  x <- as_modes(x, arg, call)
  if (dim(x)[1L] != n || !dim(x)[3L] %in% c(1L, k)) {
    abort("argument", c(
      "{.arg {arg}} must be an array {n} x q x {k}, or a matrix {n} x q for all modes, with a column for each of q
       inputs, not {describe(x)}."
    ), call = call)
  }
  x
}

as_start_mean <- function(x, m, call = rlang::caller_env()) {
  x <- finite_numbers(x, "start_mean", call)
  if (!length(x) %in% c(1L, m)) {
    abort("argument", "{.arg start_mean} must be {m} number{?s}, one for each state variable.", call = call)
  }
  rep_len(as.vector(x), m)
}

# A symmetric positive semidefinite n x n matrix, from one number, n variances, or a matrix.
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

# The largest modulus of the eigenvalues of each mode's dynamics; a mode is stable if it is below 1.
mode_moduli <- function(model) {
  m <- dim(model$A)[1L]
  apply(model$A[, seq_len(m), , drop = FALSE], 3L, function(a) max(Mod(eigen(matrix(a, m), only.values = TRUE)$values)))
}

#' @export
print.bnp_lds_model <- function(x, ...) {
  check_object(x)
  k <- dim(x$A)[3L]
  cat(
    "Linear system of ", count_of(length(x$states), "state variable"), ", ", count_of(nrow(x$C), "column"),
    if (n_inputs(x)) paste0(", ", count_of(n_inputs(x), "input")), " and ", count_of(k, "mode"), "\n", sep = ""
  )
  if (k > 1L) {
    seen <- paste0("C", if (n_inputs(x)) ", R and G" else " and R")
    cat(if (x$by_mode) paste0("The first row has a mode: ", sub("and", "or", seen), " differ by mode\n") else
      paste0("The first row has no mode: ", seen, " are those of all modes\n"))
  }
  modulus <- mode_moduli(x)
  cat("Largest modulus of an eigenvalue: ", paste(format(modulus, digits = 3), collapse = " "), "\n", sep = "")
  if (any(modulus > 1 + 1e-12)) {
    cat("Unstable: ", if (k > 1L) paste0("mode ", places(which(modulus > 1 + 1e-12)), "; "),
      "forecasts grow without bound\n", sep = "")
  }
  invisible(x)
}

# The number of known inputs of each row of a linear system.
n_inputs <- function(model) dim(model$F)[2L] %||% 0L

# The matrix of one mode, from an array by mode or from a matrix that all modes share.
of_one_mode <- function(x, mode) if (length(dim(x)) == 3L) array(x[, , mode], dim(x)[1:2]) else x

# The linear system as the engine reads it: matrices are stored by rows.
as_engine_system <- function(model) {
  k <- dim(model$A)[3L]
  by_rows <- function(array) as.vector(aperm(array, c(2L, 1L, 3L)))
  seen <- function(x) by_rows(array(x, c(dim(x)[1:2], if (model$by_mode) k else 1L)))
  list(
    k = k, m = dim(model$A)[1L], d = nrow(model$C), n_inputs = n_inputs(model), by_mode = model$by_mode,
    A = by_rows(model$A), Q = by_rows(model$Q), C = seen(model$C), R = seen(model$R),
    F = if (is.null(model$F)) numeric() else by_rows(model$F), G = if (is.null(model$G)) numeric() else seen(model$G),
    start_mean = model$start_mean, start_var = as.vector(model$start_var), start = model$start,
    transition = as.vector(t(model$transition))
  )
}
