# Fits with several starts, bnp_control(restarts = "auto"), and what print() says about the starts.

# The work allowed for all starts of a fit, for each value of `effort`; where the best end can be altered,
# more is allowed, according to the work of the first start (RestartOptions::kinds). It is counted by the engine as
# products of numbers, never in seconds, so that results depend on nothing else. "default" took about two seconds of
# one core in 2026 (inst/bench/starts.R).
work_of_starts <- c(low = 4e8, default = 1.5e9, high = 1.5e10)

default_restarts <- function(call = rlang::caller_env()) {
  restarts <- getOption("bnpvi.restarts", "auto")
  if (identical(restarts, "auto")) {
    return(restarts)
  }
  if (!identical(as.numeric(restarts), 1)) {
    abort(
      "argument", "The option {.code bnpvi.restarts} must be 1 or {.str auto}, not {describe(restarts)}.", call = call
    )
  }
  1L
}

# Whether the fit chooses its starts: then several kinds of start are tried in turn until further starts no
# longer seem worthwhile. start: the user's start, if any.
chooses_starts <- function(control, start) {
  identical(control$restarts, "auto") && is.null(start) && is.null(control$init) && is.null(control$k_init) &&
    control$algorithm %in% c("memoized", "full")
}

# Completes `control` for a fit with one start (kinds = NULL) or with starts of these kinds: a list of
# start_kind(), named by `init` ("" for the default). times: a factor of the allowed work.
with_starts <- function(control, kinds, times = 1) {
  if (is.null(kinds)) {
    if (identical(control$restarts, "auto")) control$restarts <- 1L
    return(control)
  }
  control$kinds <- kinds
  control$most_work <- times * work_of_starts[[control$effort]]
  control
}

# A kind of start: its number of clusters is twice that of the best start so far, limited to least .. most;
# with 0, `k_init` is not set.
start_kind <- function(least, most = least) list(least = as.integer(least), most = as.integer(max(least, most)))

# The kinds of start for mixtures, topics and sequences: one cluster, and many; for words also two topics; if
# the prior fixes the number of clusters, only that number. n, d: rows and columns; init: the default of the
# fit.
kinds_of_clusters <- function(prior, n, d, init) {
  if (!is.null(prior$k)) {
    kinds <- list(start_kind(prior$k), start_kind(prior$k))
    return(stats::setNames(kinds, c(init, if (init == "random") "bregman" else "random")))
  }
  words <- init != "bregman"
  kinds <- list(start_kind(1L), start_kind(min(seeds_of_rows(n, if (words) n else d), n), n))
  if (words) stats::setNames(c(kinds, list(start_kind(min(2L, n)))), c("anchor", "anchor", "best")) else
    stats::setNames(kinds, c(init, init))
}

# The number of initial clusters that n rows with d columns can support, so that each has some rows; a guess.
# (For 100 touching clusters in two columns: 182 initial clusters for 100,000 rows; for the data set penguins:
# 10.)
seeds_of_rows <- function(n, d) max(10L, as.integer(sqrt(n / (d + 1))))

# Adds to a fit the table of its starts that users see.
with_table_of_restarts <- function(result, control) {
  if (is.null(control$kinds)) {
    if (!is.null(control$init)) result$restarts$init <- control$init
    if (!is.null(control$k_init)) result$restarts$k_init <- as.integer(control$k_init)
  }
  result
}

described_starts <- function(fit) {
  ends <- fit$restarts
  ended <- if (is.null(ends)) 1L else sum(!ends$given_up)
  if (ended > 1L) {
    given_up <- nrow(ends) - ended
    altered <- sum(ends$init %in% "altered")
    return(paste0(
      "Best of ", count_of(nrow(ends) - altered, "start"), if (altered) paste(" and", count_of(altered, "altered end")),
      if (given_up) paste0(" (", given_up, " given up)"),
      if (sum(ends$agrees) > 1L) paste0("; ", sum(ends$agrees), " agree") else "; no other one agrees"
    ))
  }
  if (identical(fit$control$restarts, "auto") && fit$control$algorithm != "truncation_free") {
    paste0(
      "One start", if (NROW(ends) > 1L) " (others were given up)", "; restarts = 5 would take about 5 times as long"
    )
  }
}
