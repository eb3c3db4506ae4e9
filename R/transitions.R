# Finite hidden Markov models whose transitions are known in part: some are forbidden, some have a known
# probability.
#
# The prior of such a model has two matrices that the engine reads, both (k + 1) x k, with the first row for
# the first state. `cell_fixed` holds the probabilities of known cells, 0 where they are forbidden, and NA for
# free cells. `cell_weight` holds the Dirichlet weights of free cells, NA where these are alpha / k + sticky.
# The states are distinguishable by their transitions, and keep the numbers and the names (`states`) that the
# user gave them.

#' @rdname priors
#' @export
prior_hmm <- function(k, alpha = 0.5, start = 10, sticky = 0, transitions = NULL, fixed = NULL, ...) {
  check_no_dots(...)
  given <- names(match.call())
  called <- rlang::current_env()
  first <- if (length(start) > 1L && !inherits(start, "bnp_gamma_prior")) start
  if (!is.null(first)) start <- total_start_weight(start, check_count(k, "k"), called)
  prior <- new_prior("hmm", given)
  if (is.null(transitions) && is.null(fixed) && is.null(first)) {
    return(prior)
  }
  if (!"start" %in% given) first <- attr(transitions, "start")
  cells <- cells_of_chain(prior, transitions, fixed, first, given, called)
  if (!is.null(cells)) tell_unreached(cells)
  prior[names(cells)] <- cells
  prior
}

#' @rdname priors
#' @export
left_to_right <- function(k, skip = FALSE, return = FALSE, ...) {
  check_no_dots(...)
  states <- NULL
  if (is.character(k)) {
    states <- as_state_names(k, "k", rlang::current_env())
    k <- length(k)
  }
  k <- check_count(k, "k")
  if (k > 5000L) { # as many as check_size() lets a chain have
    abort("memory", "{.arg k} must be at most 5000 here, not {format(k, scientific = FALSE)}.")
  }
  check_flag(skip, "skip")
  check_flag(return, "return")
  ahead <- col(diag(k)) - row(diag(k))
  out <- ahead >= 0L & (skip | ahead <= 1L)
  if (return) out[k, 1L] <- TRUE
  structure(out, dimnames = if (!is.null(states)) list(states, states), start = seq_len(k) == 1L)
}

has_places <- function(prior) !is.null(prior[["cell_fixed"]])

# The total weight of the Dirichlet prior of the first state's probabilities.
total_start_weight <- function(x, k, call) {
  sound <- is.numeric(x) && !anyNA(x) && all(is.finite(x)) && all(x >= 0) && sum(x) > 0
  if (!sound || length(x) != k) {
    abort("argument", c(
      "{.arg start} must be one number, or a weight of at least 0 for each of the {k} states, of which one is
       above 0; it is {describe(x)}."
    ), call = call)
  }
  sum(x)
}

as_state_names <- function(x, arg, call) {
  if (anyNA(x) || !all(nzchar(x)) || anyDuplicated(x)) {
    abort("argument", "Names of states ({.arg {arg}}) must be text, none of it empty, each once.", call = call)
  }
  x
}

# The known cells of a transition matrix as fields of the prior; NULL where no cell is known. first: Dirichlet
# weights of the first state, NULL where the prior has the field `start`.
cells_of_chain <- function(prior, transitions, fixed, first, given, call) {
  k <- prior$k
  pattern <- as_pattern(transitions, k, call)
  fixed <- as_fixed_cells(fixed, k, call)
  if (is.logical(pattern) && all(pattern) && is.null(fixed) && is.null(first)) {
    return(NULL)
  }
  need_no_concentrations(prior, is.numeric(pattern), !is.null(fixed), is.numeric(first), given, call)
  cells <- fixed %||% matrix(NA_real_, k, k)
  forbidden <- pattern == 0
  need_sound_cells(forbidden, cells, call)
  cells[forbidden] <- 0
  stuck <- which(diag(cells) %in% 0)
  if (!identical(prior$sticky, 0) && length(stuck)) {
    abort("argument", c(
      "{.arg sticky} adds weight to staying in a state, which state{?s} {places(stuck)} cannot do.",
      i = "Leave {.arg sticky} out, or let each state follow itself."
    ), call = call)
  }
  names <- names_of_cells(transitions, fixed, call)
  c(list(
    cell_fixed = rbind(if (is.null(first)) NA_real_ else ifelse(first > 0, NA_real_, 0), unname(cells)),
    cell_weight = rbind(
      if (is.numeric(first)) first else rep(NA_real_, k),
      if (is.numeric(pattern)) unname(`attributes<-`(pattern, list(dim = dim(pattern)))) else matrix(NA_real_, k, k)
    )
  ), if (!is.null(names)) list(states = names))
}

as_pattern <- function(x, k, call) {
  if (is.null(x)) {
    return(matrix(TRUE, k, k))
  }
  need_square(x, k, "transitions", "logical, or weights of at least 0", call)
  bad <- which(is.na(x) | is.numeric(x) & !(x >= 0 & x < Inf), arr.ind = TRUE)
  if (!(is.logical(x) || is.numeric(x)) || length(bad)) {
    abort("argument", c(
      "{.arg transitions} must be logical, which states may follow which, or weights of at least 0, not
       {describe(x)}.",
      x = if (length(bad)) "Not so in row {bad[1L, 1L]}, column {bad[1L, 2L]}."
    ), call = call)
  }
  x
}

as_fixed_cells <- function(x, k, call) {
  if (is.null(x)) {
    return(NULL)
  }
  need_square(x, k, "fixed", "probabilities, {.code NA} where they are not known", call)
  if (is.logical(x) && all(is.na(x))) storage.mode(x) <- "double"
  bad <- if (is.numeric(x)) which(!is.na(x) & !(x >= 0 & x <= 1) | is.nan(x), arr.ind = TRUE)
  if (!is.numeric(x) || length(bad)) {
    abort("argument", c(
      "{.arg fixed} must have probabilities from 0 to 1, {.code NA} where they are not known, not {describe(x)}.",
      x = if (length(bad)) "Not so in row {bad[1L, 1L]}, column {bad[1L, 2L]}."
    ), call = call)
  }
  x
}

need_square <- function(x, k, arg, of, call) {
  if (!is.matrix(x) || nrow(x) != k || ncol(x) != k) {
    abort("argument", c(
      paste0("{.arg {arg}} must be a matrix with a row and a column for each of the {k} states: ", of, "."),
      x = "It is {describe(x)}.", i = "Row {.code i} says what may follow state {.code i}."
    ), call = call)
  }
}

# Refuses known cells that contradict each other. forbidden: the cells that `transitions` forbids; fixed: the
# probabilities of cells, NA for free ones.
need_sound_cells <- function(forbidden, fixed, call) {
  both <- which(forbidden & !is.na(fixed) & fixed > 0, arr.ind = TRUE)
  if (length(both)) {
    abort("argument", c(
      "{.arg transitions} forbid a step that {.arg fixed} gives a probability.",
      x = "From state {both[1L, 1L]} to state {both[1L, 2L]}."
    ), call = call)
  }
  free <- rowSums(!forbidden & is.na(fixed))
  sums <- rowSums(fixed, na.rm = TRUE)
  empty <- which(free == 0 & sums == 0)
  if (length(empty)) {
    abort("argument", c(
      "Each state needs at least one state that may follow it.",
      x = "Nothing may follow state{?s} {places(empty)}.", i = "A state may follow itself."
    ), call = call)
  }
  above <- which(sums > 1 + 1e-8)
  unequal <- which(free == 0 & sums < 1 - 1e-8)
  if (length(above) || length(unequal)) {
    abort("argument", c(
      "Rows of {.arg fixed} must sum to 1, or to less where a cell is {.code NA}.",
      x = "Not so: row{?s} {places(c(above, unequal))}."
    ), call = call)
  }
  spent <- which(free > 0 & abs(sums - 1) <= 1e-8)
  if (length(spent)) {
    abort("argument", c(
      "A row of {.arg fixed} that sums to 1 leaves no probability for its other cells.",
      x = "So in row{?s} {places(spent)}, which {?has/have} {.code NA}.",
      i = "Put 0 there: the step is then forbidden."
    ), call = call)
  }
}

# Refuses arguments that known transitions leave without effect: Dirichlet weights in `transitions` replace
# the concentrations, and concentrations can be learned only if all rows of the transition matrix share them.
need_no_concentrations <- function(prior, weights, fixed, start_weights, given, call) {
  needless <- intersect(given, c("alpha", "sticky"))
  if (weights && length(needless)) {
    abort("argument", c(
      "{.arg {needless}} {?has/have} no meaning beside weights of {.arg transitions}.",
      i = "Leave {cli::qty(needless)}{?it/them} out, or give {.arg transitions} as {.code TRUE} and {.code FALSE}."
    ), call = call)
  }
  learned <- learned_names(prior)
  if ((weights || fixed || start_weights) && length(learned)) {
    abort("argument", c(
      "{.arg {learned}} cannot be learned when cells are known.",
      i = "Give {cli::qty(learned)}{?it as a number/them as numbers}; with {.arg transitions} of {.code TRUE} and
           {.code FALSE} alone {.fn gamma_prior} is possible."
    ), call = call)
  }
}

# The names of states, from the dimensions of the matrices that were given.
names_of_cells <- function(transitions, fixed, call) {
  names <- unique(c(dimnames(transitions), dimnames(fixed)))
  names <- names[lengths(names) > 0L]
  if (length(names) > 1L) {
    abort("argument", "Rows and columns of {.arg transitions} and {.arg fixed} must have the same names.", call = call)
  }
  if (length(names)) as_state_names(enc2utf8(names[[1L]]), "dimnames", call)
}

# Informs the user about states that no sequence of allowed transitions reaches; they stay empty.
tell_unreached <- function(prior) {
  may <- !prior$cell_fixed %in% 0
  dim(may) <- dim(prior$cell_fixed)
  reached <- may[1L, ]
  repeat {
    more <- reached | colSums(may[-1L, , drop = FALSE] & reached) > 0
    if (identical(more, reached)) break
    reached <- more
  }
  unreached <- (prior$states %||% seq_along(reached))[!reached]
  if (length(unreached)) {
    cli::cli_inform(
      "No path reaches state{?s} {places(unreached)}: {?it stays/they stay} empty.",
      class = c("bnpvi_message_states", "bnpvi_message"), call = NULL
    )
  }
}

# The known transitions in words: "5 of 9 transitions forbidden, 2 fixed, first states 1".
described_cells <- function(prior) {
  cells <- prior$cell_fixed[-1L, , drop = FALSE]
  first <- which(is.na(prior$cell_fixed[1L, ]))
  paste(c(
    paste(sum(cells %in% 0), "of", length(cells), "transitions forbidden"),
    if (any(cells > 0, na.rm = TRUE)) paste(sum(cells > 0, na.rm = TRUE), "fixed"),
    if (length(first) < prior$k) paste0("first state", if (length(first) > 1L) "s", " ", places(first))
  ), collapse = ", ")
}

# Known probabilities of transitions, (k + 1) x k with the first row for the first state, and 0 for free
# cells. NULL where no transition is known.
fixed_cells <- function(prior) if (has_places(prior)) replace(prior$cell_fixed, is.na(prior$cell_fixed), 0)
