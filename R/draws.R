#' Read draws from the posterior
#'
#' @param object,x,fit Draws of [bnp_sample()].
#' @param min_size Count only clusters of at least this many rows: clusters of a single row come and go in every draw.
#' @param conf.level Probability of the central intervals.
#' @param row.names,optional Ignored.
#' @param ... Must be empty.
#' @return
#' * `n_clusters()`: a table, the share of draws in which the data have 1, 2, ... clusters; with `min_size`, the share
#'   among the draws whose partitions are kept.
#' * `summary()`: a table of means, standard deviations and quantiles of the numbers that are recorded for each draw:
#'   `n_clusters`; `concentration`, or in topic models `gamma` and `alpha`, if they have a [gamma_prior()]; `log_joint`,
#'   the log probability of data, partition and concentration (without factors of the observations that do not depend on
#'   parameters); `largest`, the number of rows in the largest cluster; and `entropy`, \eqn{-\sum_k N_k/n \log N_k/n}.
#'   If the package posterior is installed, it also has `rhat` and effective numbers of draws, with a warning where
#'   `rhat` is above 1.05.
#' * `tidy()`: the same in the form of broom: `term`, `estimate`, `std.error`, `conf.low`,
#'   `conf.high`, `rhat`, `ess_bulk`.
#' * `confint()`: a matrix with the lower and upper end of each term, central quantiles of all draws.
#' * `glance()`: one row: `chains`, `draws` (per chain), `warmup`, `thin`, the mean of `n_clusters`, the worst `rhat`,
#'   `ess_bulk` and `ess_tail` of all terms, and `nobs`.
#' * `as.data.frame()`: one row for each draw, with its `chain` and number `draw`.
#'
#' If the package posterior is installed, `as_draws_df(draws)`, `as_draws_array(draws)` and its other functions take
#' these objects.
#' @references
#' Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C. (2021). Rank-normalization, folding, and
#' localization: an improved R-hat for assessing convergence of MCMC. *Bayesian Analysis* 16(2), 667-718.
#' @seealso [bnp_sample()], [point_partition()].
#' @examples
#' draws <- bnp_sample(faithful, draws = 200, seed = 1)
#' summary(draws)
#' n_clusters(draws, min_size = 5)
#' head(as.data.frame(draws))
#' @name read_draws
NULL

#' @rdname read_draws
#' @export
n_clusters.bnp_draws <- function(fit, min_size = 1L, ...) {
  check_no_dots(...)
  check_object(fit)
  min_size <- check_count(min_size, "min_size")
  k <- if (min_size == 1L) {
    as.vector(trace_of(fit, "n_clusters"))
  } else {
    apply(kept_labels(fit), 2L, function(z) sum(tabulate(z) >= min_size))
  }
  table(n_clusters = k) / length(k)
}

# The recorded values of one quantity of a sampler: a matrix draws x chains, even if there is only one draw or
# chain.
trace_of <- function(draws, name) matrix(draws$trace[, , name], dim(draws$trace)[1L])

# The partitions that a sampler kept: cluster labels, a matrix units (rows or groups) x draws.
kept_labels <- function(draws, call = rlang::caller_env()) {
  if (!length(draws$labels)) {
    abort("argument", c(
      "No partitions are kept in these draws.", i = "Choose {.arg keep} above 0 in {.fn bnp_sample}."
    ), call = call)
  }
  draws$labels
}

#' @rdname read_draws
#' @export
as.data.frame.bnp_draws <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x)
  size <- dim(x$trace)
  numbers <- apply(x$trace, 3L, as.vector)
  dim(numbers) <- c(size[1L] * size[2L], size[3L])
  colnames(numbers) <- dimnames(x$trace)[[3L]]
  data.frame(
    chain = rep(seq_len(size[2L]), each = size[1L]), draw = rep(seq_len(size[1L]), times = size[2L]), numbers
  )
}

#' @rdname read_draws
#' @export
summary.bnp_draws <- function(object, conf.level = 0.9, ...) {
  check_no_dots(...)
  check_object(object)
  conf.level <- check_level(conf.level, "conf.level")
  tails <- c(1 - conf.level, 1 + conf.level) / 2
  names <- recorded_terms(object)
  rows <- lapply(names, function(name) {
    x <- trace_of(object, name)
    q <- stats::quantile(x, c(tails[1L], 0.5, tails[2L]), names = FALSE)
    c(mean = mean(x), sd = stats::sd(x), low = q[1L], median = q[2L], high = q[3L], mixing_of(x))
  })
  out <- data.frame(term = names, do.call(rbind, rows))
  warn_of_mixing(out$rhat, out$term)
  structure(list(table = out, draws = object), class = "summary.bnp_draws")
}

# Names of the quantities that a sampler recorded, without concentrations that are known.
recorded_terms <- function(draws) {
  known <- setdiff(names(sampled_concentrations(draws$model$prior)), drawn_concentrations(draws))
  setdiff(dimnames(draws$trace)[[3L]], known)
}

# R-hat and effective sample sizes of a matrix draws x chains; NA without the package posterior.
mixing_of <- function(x) {
  if (!requireNamespace("posterior", quietly = TRUE)) {
    return(c(rhat = NA_real_, ess_bulk = NA_real_, ess_tail = NA_real_))
  }
  c(rhat = posterior::rhat(x), ess_bulk = posterior::ess_bulk(x), ess_tail = posterior::ess_tail(x))
}

warn_of_mixing <- function(rhat, names) {
  far <- which(rhat > 1.05)
  if (length(far)) {
    cli::cli_warn(
      c(
        "Chains have not come together: R-hat of {.field {names[far]}} is {signif(rhat[far], 3)}.",
        i = "Ask for more {.arg draws} ({.fn update}) or more sweeps per draw ({.arg thin}); {.fn plot} shows chains
             that stay apart."
      ),
      class = c("bnpvi_warning_mixing", "bnpvi_warning"), call = NULL
    )
  }
}

#' @export
print.summary.bnp_draws <- function(x, ...) {
  check_object(x$draws)
  cat(draws_head(x$draws), sep = "\n")
  print(format(x$table, digits = 4), row.names = FALSE)
  if (anyNA(x$table$rhat)) {
    cat("R-hat and effective numbers of draws need the package posterior, and draws that differ.\n")
  }
  invisible(x)
}

#' @export
print.bnp_draws <- function(x, ...) {
  check_object(x)
  cat(draws_head(x), sep = "\n")
  for (half in c("fit", "sequence")) {
    chains <- which((seq_len(x$options$chains) %% 2L == 1L) == (half == "fit"))
    if (!length(chains)) next
    k <- trace_of(x, "n_clusters")[, chains]
    common <- sort(table(k) / length(k), decreasing = TRUE)[seq_len(min(5L, length(unique(as.vector(k)))))]
    cat(strwrap(paste0(
      word_for_clusters(x), ", chains begun ", if (half == "fit") "from the fit" else "without it", ": ",
      paste0(names(common), " (", format(round(as.vector(common), 3), trim = TRUE), ")", collapse = ", ")
    ), exdent = 2), sep = "\n")
  }
  cat("The fit has ", n_clusters(x$fit), ".\n", sep = "")
  invisible(x)
}

# What a sampler clusters units into, plural with a capital: "Clusters", "Topics" or "States".
word_for_clusters <- function(draws) {
  word <- cluster_word(draws$fit)
  paste0(toupper(substr(word, 1L, 1L)), substring(word, 2L), "s")
}

# The number of observations in words: "12 rows", or "40 tokens in 3 documents".
count_of_observations <- function(draws) {
  input <- draws$fit$input
  if (row_word(draws$fit) == "row") {
    return(count_of(n_units(input), "row"))
  }
  paste(
    count_of(length(draws$of_fit), if (is.null(draws$tokens)) "row" else "token"), "in",
    count_of(length(input$starts) - 1L, "document")
  )
}

draws_head <- function(draws) {
  size <- dim(draws$trace)
  thin <- draws$options$thin
  c(
    paste0(
      "Draws from the posterior of a ", fit_titles[[verb_of(draws$fit)]], ": ", count_of(size[2L], "chain"), ", ",
      count_of(size[1L], "draw"), " each", if (thin > 1L) paste0(" (one in ", thin, " sweeps)")
    ),
    paste0("Prior: ", format(draws$model$prior), "; ", count_of_observations(draws))
  )
}

#' @rdname read_draws
#' @export
tidy.bnp_draws <- function(x, conf.level = 0.9, ...) {
  check_no_dots(...)
  check_object(x)
  table <- summary(x, conf.level = conf.level)$table
  as_tidy(data.frame(
    term = table$term, estimate = table$mean, std.error = table$sd, conf.low = table$low, conf.high = table$high,
    rhat = table$rhat, ess_bulk = table$ess_bulk
  ))
}

#' @rdname read_draws
#' @export
glance.bnp_draws <- function(x, ...) {
  check_no_dots(...)
  check_object(x)
  mixing <- vapply(recorded_terms(x), function(name) mixing_of(trace_of(x, name)), double(3))
  size <- dim(x$trace)
  largest <- function(v) if (all(is.na(v))) NA_real_ else max(v, na.rm = TRUE)
  as_tidy(data.frame(
    chains = size[2L], draws = size[1L], warmup = x$options$warmup, thin = x$options$thin,
    n_clusters = mean(trace_of(x, "n_clusters")), rhat = largest(mixing["rhat", ]),
    ess_bulk = -largest(-mixing["ess_bulk", ]), ess_tail = -largest(-mixing["ess_tail", ]), nobs = nobs(x$fit)
  ))
}

#' @rdname read_draws
#' @param parm Which terms of `summary()`; default: all.
#' @param level Probability of the intervals.
#' @export
confint.bnp_draws <- function(object, parm, level = 0.95, ...) {
  check_no_dots(...)
  check_object(object)
  known <- recorded_terms(object)
  if (missing(parm)) parm <- known
  if (is.numeric(parm) && all(parm %in% seq_along(known))) parm <- known[parm]
  if (!is.character(parm) || !length(parm) || !all(parm %in% known)) {
    abort("argument", "{.arg parm} must be some of {.val {known}}, not {describe(parm)}.")
  }
  ends <- c(1 - check_level(level, "level"), 1 + level) / 2
  out <- t(vapply(parm, function(name) {
    stats::quantile(as.vector(trace_of(object, name)), ends, names = FALSE)
  }, double(2)))
  colnames(out) <- paste(format(100 * ends, trim = TRUE, digits = 3), "%")
  out
}

#' @exportS3Method posterior::as_draws
as_draws.bnp_draws <- function(x, ...) posterior::as_draws_array(x)

#' @exportS3Method posterior::as_draws_array
as_draws_array.bnp_draws <- function(x, ...) {
  check_object(x)
  size <- dim(x$trace)
  posterior::as_draws_array(array(x$trace, size, list(
    iteration = seq_len(size[1L]), chain = seq_len(size[2L]), variable = dimnames(x$trace)[[3L]]
  )))
}

#' @exportS3Method posterior::as_draws_df
as_draws_df.bnp_draws <- function(x, ...) posterior::as_draws_df(posterior::as_draws_array(x))

#' @exportS3Method posterior::as_draws_matrix
as_draws_matrix.bnp_draws <- function(x, ...) posterior::as_draws_matrix(posterior::as_draws_array(x))

#' @export
nobs.bnp_draws <- function(object, ...) nobs(check_object(object)$fit)
